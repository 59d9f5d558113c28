// fault: "  cluster.sync(); // all are there\n" => ""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2) __launch_bounds__(64) most(const float* in, float* out, int n) {
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float own[64];
  float m = 0;
  for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads()) m = fmaxf(m, in[i]);
  own[threadIdx.x] = m;
  cluster.sync(); // all are there
  float* other = cluster.map_shared_rank(own, cluster.block_rank() ^ 1);
  m = fmaxf(m, other[threadIdx.x]);
  cluster.sync();
  out[cluster.thread_rank()] = m;
}
