// fault: "ready[i % 2].wait(ready[i % 2].arrive());" => "ready[i % 2].arrive();"
// fault: "    barrier::arrival_token t = filled[i % 2].arrive();\n" => ""
// fault: "  barrier::arrival_token t2 = ready[1].arrive();\n" => ""
// fault: "filled[i % 2].wait(filled[i % 2].arrive());" => "filled[i % 2].arrive();"
// fault: "init(bar + threadIdx.x, blockDim.x);" => "init(bar + threadIdx.x, 32);"
// fault: "  __syncthreads();\n  if (threadIdx.x / warpSize == 0)" => "  if (threadIdx.x / warpSize == 0)"
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
__device__ void produce(barrier ready[], barrier filled[], float* buffer, int len, const float* in, int n) {
  for (int i = 0; i < n; ++i) {
    ready[i % 2].wait(ready[i % 2].arrive());
    for (int j = threadIdx.x; j < len; j += 32) buffer[(i % 2) * len + j] = in[i * len + j];
    barrier::arrival_token t = filled[i % 2].arrive();
  }
}
__device__ void consume(barrier ready[], barrier filled[], float* buffer, int len, float* out, int n) {
  const int me = threadIdx.x - 32;
  barrier::arrival_token t1 = ready[0].arrive();
  barrier::arrival_token t2 = ready[1].arrive();
  for (int i = 0; i < n; ++i) {
    filled[i % 2].wait(filled[i % 2].arrive());
    for (int j = me; j < len; j += 96) out[i * len + j] = buffer[(i % 2) * len + len - 1 - j] * 2;
    barrier::arrival_token t = ready[i % 2].arrive();
  }
}
__global__ void __launch_bounds__(128) producer_consumer(int n, const float* in, float* out) {
  __shared__ float buffer[2 * 256];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar[4];
  if (threadIdx.x < 4) init(bar + threadIdx.x, blockDim.x);
  __syncthreads();
  if (threadIdx.x / warpSize == 0) produce(bar, bar + 2, buffer, 256, in, n);
  else consume(bar, bar + 2, buffer, 256, out, n);
}
