// fault: "  ptx::fence_proxy_async(ptx::space_shared);\n  __syncthreads();\n  if (block" => "  __syncthreads();\n  if (block"
// fault: "  bar[0].wait(std::move(first));\n" => ""
// fault: "sizeof(tile));" => "sizeof(tile) * 2);"
// fault: "barrier_arrive_tx(bar[1], 1, 512)" => "barrier_arrive_tx(bar[1], 1, 256)"
// fault: "  bar[1].wait(std::move(second));\n" => ""
// fault: "init(&bar[i], block.size());" => "init(&bar[i], block.size() + 1);"
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <utility>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;
struct alignas(64) Map { char opaque[128]; };
__global__ void __launch_bounds__(128) bias(const __grid_constant__ Map map, const float* row, int x, int y) {
  __shared__ alignas(128) float tile[4][128];
  __shared__ alignas(16) float own[128];
  __shared__ barrier bar[2];
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) {
    for (int i = 0; i < 2; ++i) init(&bar[i], block.size());
    ptx::fence_proxy_async(ptx::space_shared);
  }
  block.sync();
  barrier::arrival_token first, second;
  if (block.thread_rank() == 0) {
    const int32_t at[2] = {x, y};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, &tile, &map, at, cuda::device::barrier_native_handle(bar[0]));
    first = cuda::device::barrier_arrive_tx(bar[0], 1, sizeof(tile));
    cuda::device::memcpy_async_tx(own, row, cuda::aligned_size_t<16>(512), bar[1]);
    second = cuda::device::barrier_arrive_tx(bar[1], 1, 512);
  } else {
    first = bar[0].arrive();
    second = bar[1].arrive();
  }
  bar[0].wait(std::move(first));
  bar[1].wait(std::move(second));
  for (int r = 0; r < 4; ++r) tile[r][threadIdx.x] += own[127 - threadIdx.x];
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (block.thread_rank() == 0) {
    const int32_t at[2] = {x, y};
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, &tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
