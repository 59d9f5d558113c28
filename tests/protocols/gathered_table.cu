// fault: "  ready.arrive_and_wait();\n" => "  (void)ready.arrive();\n"
// fault: "if (threadIdx.x == 0) init(&ready, 128);" => "if (threadIdx.x == 0) init(&ready, 129);"
// Where a table is read only data tells: whatever the place is, its copies have to be complete.
#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
__global__ void __launch_bounds__(128) look_up(const float* table, const float2* at, float* out, int n) {
  __shared__ alignas(128) float patch[64 * 64];
  __shared__ cuda::barrier<cuda::thread_scope_block> ready;
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&ready, 128);
  __syncthreads();
  cuda::memcpy_async(block, patch, table, cuda::aligned_size_t<16>(sizeof(patch)), ready);
  ready.arrive_and_wait();
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    const float2 p = at[i];
    const int x = __float2int_rd(p.x), y = __float2int_rd(p.y);
    sum += patch[y * 64 + x];
  }
  out[threadIdx.x] = sum;
}
