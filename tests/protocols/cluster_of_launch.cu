// fault: "  mine[threadIdx.x] = 0;\n  cluster.sync();\n" => "  mine[threadIdx.x] = 0;\n"
// fault: "  cluster.sync();\n  total[" => "  total["
// fault: "  cluster.sync();\n  total[" => "  cluster.barrier_arrive();\n  total["
// A launch says how many blocks a cluster has, and how many threads they have.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void counts(const int* in, int* total, int n) {
  extern __shared__ int mine[];
  cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int* theirs = cluster.map_shared_rank(mine, in[i] / 64);
    atomicAdd(theirs + in[i] % 64, 1);
  }
  cluster.sync();
  total[blockIdx.x * blockDim.x + threadIdx.x] += mine[threadIdx.x];
}
