// fault: "      if (t >= 2 && threadIdx.x == 0) wait(&spent[s], (t / 2 - 1) & 1);\n" => ""
// fault: "      arrive(&spent[s]);  // each has read\n" => ""
// fault: "make(&spent[i], 64);" => "make(&spent[i], 2);"
#include <cstdint>

__device__ __forceinline__ uint32_t at(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void make(uint64_t* b, uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void arrive(uint64_t* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
__device__ __forceinline__ void wait(uint64_t* b, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nL:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra L;\n}" ::"r"(at(b)), "r"(parity) : "memory");
}
__device__ __forceinline__ void load(uint64_t* b, float* to, const float* from) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(at(b)) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(at(to)), "l"(from), "r"(at(b)) : "memory");
}

// One thread of those who read loads, when each of them has arrived.
__global__ void __launch_bounds__(64) reversed(const float* in, float* out, int tiles) {
  __shared__ alignas(128) float tile[2][64];
  __shared__ alignas(8) uint64_t full[2], spent[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      make(&full[i], 1);
      make(&spent[i], 64);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  for (int t = 0; t < tiles + 1; ++t) {
    if (t < tiles) {
      const int s = t & 1;
      if (t >= 2 && threadIdx.x == 0) wait(&spent[s], (t / 2 - 1) & 1);
      if (threadIdx.x == 0) load(&full[s], tile[s], in + t * 64);
    }
    if (t > 0) {
      const int s = (t - 1) & 1;
      wait(&full[s], (t - 1) >> 1 & 1);
      out[(t - 1) * 64 + threadIdx.x] = tile[s][63 - threadIdx.x];
      arrive(&spent[s]);  // each has read
    }
  }
}
