// fault: "  block.barrier_wait(std::move(token));  // what all have stored\n" => ""
// fault: "  cg::thread_block::sync();  // what one has stored\n" => ""
// fault: "  cg::wait(warp);  // the copy of the warp\n" => ""
// fault: "  cg::wait(block);  // the copy of the block\n" => ""
// fault: "  cg::cluster_group::sync();  // the others have stored\n" => ""
// fault: "  cg::cluster_group::sync();  // the others have read\n" => ""
// Barriers in two parts, one thread that acts for its group, groups of lanes with a label, copies of warps and by counts of elements.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>
#include <utility>
namespace cg = cooperative_groups;
__global__ void __launch_bounds__(128) parted(float* out, const float* in, unsigned* counts) {
  __shared__ float all[128];
  __shared__ alignas(16) float copied[256];
  __shared__ float first;
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  all[threadIdx.x] = in[threadIdx.x];
  auto token = block.barrier_arrive();
  const float own = in[128 + threadIdx.x];
  block.barrier_wait(std::move(token));  // what all have stored
  float sum = own + all[threadIdx.x ^ 64];
  auto alike = cg::labeled_partition(warp, threadIdx.x & 3);
  if (alike.thread_rank() == 0) atomicAdd(&counts[threadIdx.x & 3], alike.size());
  auto odd = cg::binary_partition(warp, (threadIdx.x & 1) != 0);
  if (odd.thread_rank() == 0) atomicAdd(&counts[4], odd.num_threads());
  cg::invoke_one(block, [&] { first = sum; });
  cg::thread_block::sync();  // what one has stored
  sum += first;
  const unsigned at = warp.meta_group_rank() * 32;
  cg::memcpy_async(warp, copied + at, in + at, sizeof(float) * 32);
  cg::wait(warp);  // the copy of the warp
  sum += copied[at + (warp.thread_rank() ^ 1)];
  cg::memcpy_async(block, copied + 128, 128, in + 128, 128);
  cg::wait(block);  // the copy of the block
  out[cg::this_grid().thread_rank()] = sum + copied[128 + (threadIdx.x ^ 64)];
}
__global__ void __cluster_dims__(2) __launch_bounds__(128) mapped(float* out, const float* in) {
  __shared__ float own[128];
  own[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  cg::cluster_group::sync();  // the others have stored
  const float* other = cg::this_cluster().map_shared_rank(own, cg::cluster_group::block_rank() ^ 1);
  out[blockIdx.x * 128 + threadIdx.x] = other[threadIdx.x] + cg::this_grid().cluster_rank();
  cg::cluster_group::sync();  // the others have read
}
void launch(float* p, unsigned* counts) {
  parted<<<4, 128>>>(p, p + 65536, counts);
  mapped<<<4, 128>>>(p, p + 65536);
}
