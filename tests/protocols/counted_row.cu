// fault: "  group.sync(); // before the next sum\n" => ""
// fault: "  done.wait(done.arrive()); // all parts\n" => ""
// As many arrive as a block has threads in its row.
#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
using Done = cuda::barrier<cuda::thread_scope_block>;
__device__ float sum(cg::thread_block& group, cg::thread_block_tile<32>& tile, Done& done, float* part, float own) {
  for (int by = 16; by > 0; by /= 2) own += tile.shfl_down(own, by);
  if (tile.thread_rank() == 0) part[tile.meta_group_rank()] = own;
  done.wait(done.arrive()); // all parts
  float all = tile.thread_rank() < tile.meta_group_size() ? part[tile.thread_rank()] : 0;
  group.sync(); // before the next sum
  return all;
}
__global__ void sums(const float* in, float* out) {
  __shared__ float part[32];
  __shared__ Done done;
  auto group = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(group);
  if (group.thread_rank() == 0) init(&done, blockDim.x);
  group.sync();
  float first = sum(group, tile, done, part, in[group.thread_rank()]);
  out[group.thread_rank()] = first + sum(group, tile, done, part, first);
}
