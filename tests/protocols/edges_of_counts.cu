// fault: "  cluster.sync();  // counted\n" => "  __syncthreads();\n"
// fault: "  for (int i = threadIdx.x; i < 256; i += 128) bins[i] = 0;\n  cluster.sync();" => "  cluster.sync();\n  for (int i = threadIdx.x; i < 256; i += 128) bins[i] = 0;"
// fault: "  cluster.sync();  // the edges are there\n" => "  __syncthreads();\n"
// fault: "  cluster.barrier_wait(std::move(token));\n" => ""
// Blocks add to each other's counts, wherever data says, and read of each other when all have counted.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128) edges_of(const int* in, int n, int* sums, int* edges) {
  __shared__ int bins[256];
  __shared__ int edge[2];
  cg::cluster_group cluster = cg::this_cluster();
  const int rank = cluster.block_rank();
  for (int i = threadIdx.x; i < 256; i += 128) bins[i] = 0;
  cluster.sync();  // cleared
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {
    const int bin = in[i] % 1024;
    atomicAdd(cluster.map_shared_rank(bins, bin / 256) + bin % 256, 1);
  }
  cluster.sync();  // counted
  if (threadIdx.x == 0) edge[0] = bins[0];
  cluster.sync();  // the edges are there
  if (threadIdx.x == 0) edges[blockIdx.x] = *cluster.map_shared_rank(edge, (rank + 1) % 4);
  auto token = cluster.barrier_arrive();
  sums[blockIdx.x * 128 + threadIdx.x] = bins[threadIdx.x];
  cluster.barrier_wait(std::move(token));
}
