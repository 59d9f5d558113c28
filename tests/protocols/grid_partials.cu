// fault: "  grid.sync(); // all parts are there\n" => ""
// fault: "  grid.sync(); // the sum is there\n" => ""
// Each block stores a part, one block adds them, and all read the sum.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __launch_bounds__(256) normalise(const float* in, float* parts, float* sum, float* out, int n) {
  cg::grid_group grid = cg::this_grid();
  __shared__ float of_warps[8];
  float v = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) v += in[i];
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) v += of_warps[w];
    parts[blockIdx.x] = v;
  }
  grid.sync(); // all parts are there
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    float all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += __ldcg(parts + b);
    *sum = all;
  }
  grid.sync(); // the sum is there
  const float by = 1.f / __ldcg(sum);
  for (int i = grid.thread_rank(); i < n; i += grid.size()) out[i] = in[i] * by;
}
