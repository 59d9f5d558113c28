// fault: "bar_sync(FULL + slot, 256);\n      sum" => "bar_sync(FULL + slot, 128);\n      sum"
// fault: "bar_arrive(EMPTY + slot, 256);\n    }\n    out" => ";\n    }\n    out"
// fault: "      bar_sync(EMPTY + slot, 256);\n" => ""
// fault: "      bar_sync(FULL + slot, 256);\n      sum" => "      sum"
// fault: "      bar_arrive(FULL + slot, 256);\n" => ""
// fault: "FULL = 1, EMPTY = 3" => "FULL = 1, EMPTY = 2"

#include <cstdint>
#include <cuda.h>

namespace {
enum Barriers { FULL = 1, EMPTY = 3 };
__device__ __forceinline__ void bar_sync(int id, int threads) {
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void bar_arrive(int id, int threads) {
  asm volatile("barrier.cta.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
}  // namespace

// Four warps write tiles for four others.
__global__ void __launch_bounds__(256) exchange(const float* in, float* out, int tiles) {
  __shared__ float tile[2][128];
  const int tid = threadIdx.x % 128;
  if (threadIdx.x < 128) {
    for (int t = 0; t < tiles; ++t) {
      const int slot = t % 2;
      bar_sync(EMPTY + slot, 256);
      tile[slot][tid] = in[t * 128 + tid];
      bar_arrive(FULL + slot, 256);
    }
  } else {
    float sum = 0.f;
    bar_arrive(EMPTY, 256);
    bar_arrive(EMPTY + 1, 256);
    for (int t = 0; t < tiles; ++t) {
      const int slot = t % 2;
      bar_sync(FULL + slot, 256);
      sum += tile[slot][127 - tid];
      if (t + 2 < tiles) bar_arrive(EMPTY + slot, 256);
    }
    out[tid] = sum;
  }
}
