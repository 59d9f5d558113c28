// fault: "  own[threadIdx.x] = 0;\n  cluster.sync();\n" => "  own[threadIdx.x] = 0;\n  __syncthreads();\n"
// fault: "  cluster.sync();\n  atomicAdd(bins" => "  __syncthreads();\n  atomicAdd(bins"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// histogram over a cluster with distributed shared memory
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) hist(const int *in, int *bins, int n) {
  __shared__ int own[128];
  cg::cluster_group cluster = cg::this_cluster();
  own[threadIdx.x] = 0;
  cluster.sync();
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {
    int b = in[i] & 255;
    int *there = cluster.map_shared_rank(own, b >> 7);
    atomicAdd(there + (b & 127), 1);
  }
  cluster.sync();
  atomicAdd(bins + cluster.block_rank() * 128 + threadIdx.x, own[threadIdx.x]);
}
