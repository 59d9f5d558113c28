// fault: "  cluster.sync();  // begun\n" => "  __syncthreads();\n"
// fault: "  cluster.sync();  // written\n" => ""
// A configuration says how many threads and blocks are launched.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void neighbours(const float* in, float* out) {
  __shared__ float edge[2];
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();  // begun
  if (threadIdx.x < 2) {
    const int other = (cluster.block_rank() + 1) % cluster.num_blocks();
    cluster.map_shared_rank(edge, other)[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  }
  cluster.sync();  // written
  out[blockIdx.x * blockDim.x + threadIdx.x] = edge[threadIdx.x % 2];
}
void launch(const float* in, float* out) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 4;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 64;
  config.blockDim = 64;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, neighbours, in, out);
}
