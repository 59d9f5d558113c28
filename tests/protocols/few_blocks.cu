// fault: "init(&free[i], 64);" => "init(&free[i], 32);"
// fault: "      wait(&ready[turn & 1], turn >> 1 & 1);\n" => "      wait(&ready[turn & 1], turn & 1);\n"
// fault: "init(&free[i], 64);" => "init(&free[i], 96);"
// Blocks share the tiles of a matrix: where there are more blocks than tiles no buffer is used twice.
#include <cuda_runtime.h>
#include <cstdint>

static __device__ void init(uint64_t* object, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"((uint32_t)__cvta_generic_to_shared(object)), "r"(count) : "memory");
}
static __device__ void arrive(uint64_t* object) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"((uint32_t)__cvta_generic_to_shared(object)) : "memory");
}
static __device__ void wait(uint64_t* object, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"((uint32_t)__cvta_generic_to_shared(object)), "r"(parity) : "memory");
  } while (!done);
}

__global__ void __launch_bounds__(96) tiles(const float* in, float* out, int rows, int columns, int depth) {
  __shared__ float sums[2][64];
  __shared__ uint64_t ready[2], free[2], filled;
  const int across = columns / 128, all = rows / 128 * across;
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; ++i) {
      init(&ready[i], 32);
      init(&free[i], 64);
    }
  if (threadIdx.x == 0) init(&filled, 32);
  __syncthreads();
  uint32_t turn = 0, step = 1;
  if (threadIdx.x < 32) {
    for (int tile = blockIdx.x; tile < all; tile += gridDim.x, ++turn) {
      wait(&free[turn & 1], (turn >> 1 & 1) ^ 1);
      float sum = 0.f;
      for (int k = 0; k < depth; k += 64) {
        wait(&filled, step++ & 1);
        sum += in[tile * depth + k + threadIdx.x];
        __syncwarp();
        arrive(&filled);
      }
      sums[turn & 1][threadIdx.x] = sum;
      sums[turn & 1][threadIdx.x + 32] = sum * 0.5f;
      arrive(&ready[turn & 1]);
    }
  } else {
    for (int tile = blockIdx.x; tile < all; tile += gridDim.x, ++turn) {
      wait(&ready[turn & 1], turn >> 1 & 1);
      out[tile * 64 + threadIdx.x - 32] = sums[turn & 1][95 - threadIdx.x];
      arrive(&free[turn & 1]);
    }
  }
}
