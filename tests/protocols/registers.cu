// fault: "give<40>()" => "give<48>()"
// fault: "take<232>()" => "take<240>()"
// fault: "__launch_bounds__(THREADS, 1)" => "__launch_bounds__(THREADS, 2)"
// fault: "    give<40>();\n" => ""

#include <cstdint>
#include <cuda.h>

namespace {
constexpr int GROUP = 128, THREADS = 3 * GROUP;

template <uint32_t Registers>
__device__ __forceinline__ void give() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(Registers));
}

template <uint32_t Registers>
__device__ __forceinline__ void take() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(Registers));
}

__device__ __forceinline__ void meet(int barrier, int threads) {
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
}  // namespace

// One group of warps loads with few registers, for two that compute with many.
__global__ void __launch_bounds__(THREADS, 1) specialised(const float* in, float* out, int tiles) {
  __shared__ float tile[GROUP];
  const int group = threadIdx.x / GROUP;
  const int lane = threadIdx.x % GROUP;
  float sum = 0.f;
  if (group == 0) {
    give<40>();
    for (int t = 0; t < tiles; ++t) {
      tile[lane] = in[t * GROUP + lane];
      meet(1, THREADS);
      meet(2, THREADS);
    }
  } else {
    take<232>();
    for (int t = 0; t < tiles; ++t) {
      meet(1, THREADS);
      sum += tile[group == 1 ? lane : GROUP - 1 - lane];
      meet(2, THREADS);
    }
    out[(group - 1) * GROUP + lane] = sum;
  }
}
