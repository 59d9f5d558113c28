// fault: "init(&ready[i], blockDim.x);" => "init(&ready[i], blockDim.x / 2);"
// fault: "      ready[s].wait(std::move(token));  // tile\n" => ""
// fault: "cuda::device::barrier_arrive_tx(ready[s], 1, sizeof(tile[s]))" => "cuda::device::barrier_arrive_tx(ready[s], 1, sizeof(tile[s]) / 2)"
// fault: "cuda::device::barrier_arrive_tx(ready[s], 1, sizeof(tile[s]))" => "ready[s].arrive()"
// fault: "  __syncthreads();  // made\n" => ""
#include <cuda/barrier>
#include <utility>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

__global__ void __launch_bounds__(128) rotate(const float* in, float* out, int tiles) {
  __shared__ alignas(128) float tile[2][128];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier ready[2], spent[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      init(&ready[i], blockDim.x);
      init(&spent[i], blockDim.x);
    }
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();  // made
  for (int t = 0; t < tiles; ++t) {
    const int s = t % 2;
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
      cde::cp_async_bulk_global_to_shared(tile[s], in + t * 128, sizeof(tile[s]), ready[s]);
      token = cuda::device::barrier_arrive_tx(ready[s], 1, sizeof(tile[s]));
    } else {
      token = ready[s].arrive();
    }
      ready[s].wait(std::move(token));  // tile
    out[t * 128 + threadIdx.x] = tile[s][127 - threadIdx.x];
    spent[s].arrive_and_wait();  // tile is free
  }
}
