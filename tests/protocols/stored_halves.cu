// fault: "    fence_shared();\n    meet(group + 1);  // the half is written" => "    meet(group + 1);  // the half is written\n    fence_shared();"
// fault: "    fence_shared();\n" => ""
// fault: "    meet(group + 1);  // the half is written\n" => ""
#include <cstdint>
#include <cuda.h>
#include <cuda_bf16.h>
// Two groups of four warps, each with half of a tile that its first thread stores; a row is written by one of two stores.
constexpr int ROWS = 64, COLUMNS = 64;
struct __align__(1024) Halves {
  __nv_bfloat16 half[2][ROWS * COLUMNS];
};
__device__ inline uint32_t place(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ inline void fence_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ inline void meet(int number) { asm volatile("bar.sync %0, 128;" ::"r"(number) : "memory"); }
__global__ void __launch_bounds__(256) scale_tiles(const __grid_constant__ CUtensorMap map, const float *in, float factor, int tiles) {
  extern __shared__ unsigned char memory[];
  Halves &s = *reinterpret_cast<Halves *>(memory);
  const int group = threadIdx.x / 128, own = threadIdx.x % 128, warp = own / 32, lane = own % 32;
  const bool stores = own == 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    if (stores) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    meet(group + 1);  // the half is free
    __nv_bfloat16 *to = s.half[group];
    const int row = warp * 16 + lane / 4;
    for (int j = 0; j < COLUMNS / 8; ++j) {
      const int column = j * 8 + lane % 4 * 2;
      const float *from = in + ((size_t)tile * 2 * ROWS + group * ROWS + row) * COLUMNS + column;
      *reinterpret_cast<__nv_bfloat162 *>(to + row * COLUMNS + column) = __floats2bfloat162_rn(from[0] * factor, from[1] * factor);
      *reinterpret_cast<__nv_bfloat162 *>(to + (row + 8) * COLUMNS + column) = __floats2bfloat162_rn(from[8 * COLUMNS] * factor, from[8 * COLUMNS + 1] * factor);
    }
    fence_shared();
    meet(group + 1);  // the half is written
    if (stores) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(0), "r"((tile * 2 + group) * ROWS), "r"(place(to)) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (stores) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
