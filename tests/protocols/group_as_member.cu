// fault: "  board.publish();\n  int sum" => "  int sum"
// fault: "  board.publish();\n}" => "}"
// An object keeps the group of its cluster and a tile of its warp, and the launch sets two extents at once.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
struct Board {
  cg::cluster_group blocks;
  cg::thread_block_tile<32> lanes;
  int* slots;
  __device__ Board(cg::cluster_group cluster, cg::thread_block_tile<32> warp, int* first)
      : blocks(cluster), lanes(warp), slots(first) {}
  __device__ void put(int value) {
    if (lanes.thread_rank() == 0) slots[lanes.meta_group_rank()] = value;
  }
  __device__ int of(unsigned block, int slot) const { return blocks.map_shared_rank(slots, block)[slot]; }
  __device__ void publish() { blocks.sync(); }
};
__global__ void __launch_bounds__(128) totals(const int* in, int* out) {
  __shared__ int slots[4];
  Board board(cg::this_cluster(), cg::tiled_partition<32>(cg::this_thread_block()), slots);
  board.put(in[blockIdx.x * 128 + threadIdx.x]);
  board.publish();
  int sum = 0;
  for (unsigned block = 0; block < 4; ++block)
    for (int slot = 0; slot < 4; ++slot) sum += board.of(block, slot);
  out[blockIdx.x * 128 + threadIdx.x] = sum;
  board.publish();
}
void launch(const int* in, int* out) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute with[1];
  with[0].id = cudaLaunchAttributeClusterDimension;
  with[0].val.clusterDim.x = 4;
  with[0].val.clusterDim.y = with[0].val.clusterDim.z = 1;
  config.gridDim = 32;
  config.blockDim = 128;
  config.attrs = with;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, totals, in, out);
}
