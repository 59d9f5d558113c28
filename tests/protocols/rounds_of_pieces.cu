// fault: "      cg::wait_prior<1>(block);\n" => ""
// fault: "    block.sync();\n" => ""
// Rounds that are counted by a division: who launches it with less than a piece would have none, and nobody does.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
constexpr int PIECE = 128;
__device__ float row(cg::thread_block& block, float (*piece)[PIECE], const float* m, const float* v, int n) {
  const int pieces = n / PIECE;
  float sum = 0.f;
  cg::memcpy_async(block, piece[0], v, sizeof(float) * PIECE);
  for (int p = 0; p < pieces; ++p) {
    if (p + 1 < pieces) {
      cg::memcpy_async(block, piece[(p + 1) & 1], v + (p + 1) * PIECE, sizeof(float) * PIECE);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    for (int j = 0; j < PIECE; ++j) sum += m[p * PIECE + j] * piece[p & 1][j];
    block.sync();
  }
  return sum;
}
__global__ void __launch_bounds__(128) steps_of(const float* m, float* v, int n, int steps) {
  __shared__ alignas(16) float piece[2][PIECE];
  cg::thread_block block = cg::this_thread_block();
  for (int s = 0; s < steps; ++s) v[threadIdx.x] = row(block, piece, m, v, n);
}
