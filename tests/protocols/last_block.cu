// fault: "  __threadfence();\n" => ""
// fault: "  __threadfence();\n" => "  __threadfence_block();\n"

#include <cuda_runtime.h>
__global__ void __launch_bounds__(256) reduce_last(const float* in, volatile float* part, unsigned* count, float* out, int n) {
  __shared__ float red[256];
  __shared__ bool last;
  float s = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) s += in[i];
  red[threadIdx.x] = s;
  __syncthreads();
  for (int k = 128; k; k >>= 1) { if (threadIdx.x < k) red[threadIdx.x] += red[threadIdx.x + k]; __syncthreads(); }
  if (threadIdx.x == 0) {
  part[blockIdx.x] = red[0];
  __threadfence();
  unsigned t = atomicAdd(count, 1u);
  last = t == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    float v = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += 256) v += part[i];
    red[threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.x == 0) { for (int i = 1; i < 256; ++i) v += red[i]; out[0] = v; *count = 0; }
  }
}
