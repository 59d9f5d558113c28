// fault: "  meet_cluster();  // the other may still arrive here\n" => ""
// fault: "arrive(&empty, r);" => "arrive(&empty, rank);"
// fault: "make(&empty, 16);" => "make(&empty, 8);"
// fault: "expect(&full, 2 * kHalf);" => "expect(&full, kHalf);"
#include <cstdint>

constexpr int kRows = 128, kColumns = 32;
constexpr uint32_t kHalf = kRows * kColumns / 2 * sizeof(float);
__device__ __forceinline__ uint32_t at(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void make(uint64_t* b, uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void expect(uint64_t* b, uint32_t n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void arrive(uint64_t* b, uint32_t rank) {
  asm volatile("{\n.reg .b32 a;\nmapa.shared::cluster.u32 a, %0, %1;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [a];\n}" ::"r"(at(b)), "r"(rank) : "memory");
}
__device__ __forceinline__ void wait(uint64_t* b, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(at(b)), "r"(parity) : "memory");
}
__device__ __forceinline__ void meet_cluster() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }

// Two blocks share slabs, of which each loads one half for both: eight warps of each read all of a slab.
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(288) nearest_of_slabs(const float* in, float* out, int slabs) {
  __shared__ alignas(128) float slab[kRows * kColumns];
  __shared__ alignas(8) uint64_t full, empty;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    make(&full, 1);
    make(&empty, 16);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  meet_cluster();
  if (threadIdx.x >= 256) {
    for (int k = 0; k < slabs && threadIdx.x == 256; ++k) {
      wait(&empty, (k & 1) ^ 1);
      expect(&full, 2 * kHalf);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(at(slab) + rank * kHalf),
                   "l"(in + (k * 2 + rank) * (kHalf / 4)), "r"(kHalf), "r"(at(&full)), "h"(uint16_t(3)) : "memory");
    }
  } else {
    float least = 1e30f;
    for (int k = 0; k < slabs; ++k) {
      wait(&full, k & 1);
      for (int r = 0; r < kRows; ++r) {
        float sum = 0.f;
        for (int c = 0; c < kColumns; ++c) sum += slab[r * kColumns + c] * (threadIdx.x + c);
        least = fminf(least, sum);
      }
      __syncwarp();
      if (threadIdx.x % 32 == 0)
        for (int r = 0; r < 2; ++r) arrive(&empty, r);
    }
    out[blockIdx.x * 256 + threadIdx.x] = least;
  }
  meet_cluster();  // the other may still arrive here
}
