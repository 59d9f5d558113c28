// fault: "    bar[s].wait(std::move(token[s]));\n" => ""
// fault: "init(&bar[i], blockDim.x);" => "init(&bar[i], blockDim.x + 1);"
// fault: "    __syncthreads();\n    if (i + 2 < n)" => "    if (i + 2 < n)"
// fault: "cuda::device::barrier_arrive_tx(bar[s], 1, 1024)" => "cuda::device::barrier_arrive_tx(bar[s], 1, 512)"
#include <cuda/barrier>
#include <cstdint>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
__global__ void __launch_bounds__(128) tokens(const float* in, float* out, int n) {
  __shared__ alignas(128) float x[2][256];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; i++) init(&bar[i], blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token token[2];
  auto start = [&](int k) {
    const int s = k & 1;
    if (threadIdx.x == 0) {
      cde::cp_async_bulk_global_to_shared(x[s], in + k * 256, 1024, bar[s]);
      token[s] = cuda::device::barrier_arrive_tx(bar[s], 1, 1024);
    } else {
      token[s] = bar[s].arrive();
    }
  };
  start(0);
  if (n > 1) start(1);
  float sum = 0;
  for (int i = 0; i < n; i++) {
    const int s = i & 1;
    bar[s].wait(std::move(token[s]));
    sum += x[s][threadIdx.x] + x[s][255 - threadIdx.x];
    __syncthreads();
    if (i + 2 < n) start(i + 2);
  }
  out[threadIdx.x] = sum;
}
