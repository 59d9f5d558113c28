// fault: "  cluster.sync();  // sums are there\n" => "  __syncthreads();\n"
// fault: "  cluster.sync();  // others have read mine\n" => ""
// fault: "  __syncthreads();  // warps have summed\n" => ""
// fault: "r < cluster.num_blocks()" => "r <= cluster.num_blocks()"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(256) cluster_norm(const float* in, float* out, int n) {
  __shared__ float part[8];
  __shared__ float total;
  cg::cluster_group cluster = cg::this_cluster();
  float sum = 0.f;
  for (int i = cluster.block_rank() * 256 + threadIdx.x; i < n; i += 1024) sum += in[i] * in[i];
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();  // warps have summed
  if (threadIdx.x == 0) {
    float all = 0.f;
    for (int w = 0; w < 8; ++w) all += part[w];
    total = all;
  }
  cluster.sync();  // sums are there
  float all = 0.f;
  for (int r = 0; r < cluster.num_blocks(); ++r) all += *cluster.map_shared_rank(&total, r);
  for (int i = cluster.block_rank() * 256 + threadIdx.x; i < n; i += 1024) out[i] = in[i] * rsqrtf(all);
  cluster.sync();  // others have read mine
}
