// fault: "cde::fence_proxy_async_shared_cta();\n  }\n  __syncthreads();" => "cde::fence_proxy_async_shared_cta();\n  }"
// fault: "init(&ready, blockDim.x);" => "init(&ready, blockDim.x + 1);"
// fault: "    ready.wait(std::move(token));\n" => ""
// fault: "    __syncthreads();\n  }\n  asm" => "  }\n  asm"

#include <cuda.h>
#include <cuda/barrier>
#include <utility>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

// What the programming guide shows: one thread copies a tile, and all wait for it.
__global__ void __launch_bounds__(128) guide(const __grid_constant__ CUtensorMap map, float* out, int rounds) {
  __shared__ alignas(128) float tile[32][32];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier ready;
  if (threadIdx.x == 0) {
    init(&ready, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  float sum = 0.f;
  for (int i = 0; i < rounds; ++i) {
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
      cde::cp_async_bulk_tensor_2d_global_to_shared(&tile[0][0], &map, 0, i * 32, ready);
      token = cuda::device::barrier_arrive_tx(ready, 1, sizeof(tile));
    } else {
      token = ready.arrive();
    }
    ready.wait(std::move(token));
    sum += tile[threadIdx.x / 32][threadIdx.x % 32];
    __syncthreads();
  }
  asm volatile("st.global.f32 [%0], %1;" ::"l"(out + threadIdx.x), "f"(sum) : "memory");
  asm volatile("fence.proxy.async.global;" ::: "memory");
}
