// fault: "if (rank == 0) expect(full + 8 * s, 2 * STAGE);" => "if (rank == 0) expect(full + 8 * s, STAGE);"
// fault: "      if (rank == 0) expect(full + 8 * s, 2 * STAGE);\n" => ""
// fault: "tell(empty + 8 * s, 3);" => "tell(empty + 8 * s, 1);"
// fault: "tell(sums, 3);" => "tell(sums, 1);"
// fault: "  if (warp == 1) asm volatile(\"tcgen05.dealloc" => "  if (warp == 1 && rank == 0) asm volatile(\"tcgen05.dealloc"
// fault: "wait(empty + 8 * s, ((k / STAGES) & 1) ^ 1);" => "wait(empty + 8 * s, (k / STAGES) & 1);"
// Two blocks load halves of both operands; the first one multiplies for both.
#include <cstdint>
#include <cuda.h>
constexpr int STAGES = 3, A = 128 * 64 * 2, B = 64 * 64 * 2, STAGE = A + B;
__device__ __forceinline__ uint32_t place(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void expect(uint32_t b, uint32_t n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(n) : "memory"); }
__device__ __forceinline__ void wait(uint32_t b, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN_%=:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN_%=;\n}" ::"r"(b), "r"(parity) : "memory");
}
__device__ __forceinline__ void fetch(uint32_t to, const CUtensorMap* map, uint32_t b, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to), "l"(map), "r"(b & 0xFEFFFFFFu), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ void tell(uint32_t b, uint16_t blocks) {
  asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(b), "h"(blocks) : "memory");
}
__device__ __forceinline__ void meet() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ __forceinline__ uint64_t described(uint32_t at) { return ((uint64_t)(at & 0x3FFFF) >> 4) | (64ull << 32) | (1ull << 46) | (2ull << 61); }
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(192) product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* out, int tiles) {
  extern __shared__ __align__(1024) uint8_t memory[];
  __shared__ uint64_t objects[2 * STAGES + 1];
  __shared__ uint32_t slot;
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint32_t full = place(objects), empty = full + 8 * STAGES, sums = empty + 8 * STAGES, base = place(memory);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2 * STAGES + 1; ++i) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * i) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (warp == 1) {
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(place(&slot)) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  meet();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const uint32_t tensor = slot;
  if (warp == 0 && lane == 0) {
    for (int k = 0; k < tiles; ++k) {
      const int s = k % STAGES;
      wait(empty + 8 * s, ((k / STAGES) & 1) ^ 1);
      // both blocks tell the first
      if (rank == 0) expect(full + 8 * s, 2 * STAGE);
      fetch(base + s * STAGE, &a, full + 8 * s, k * 64, blockIdx.x * 128);
      fetch(base + s * STAGE + A, &b, full + 8 * s, k * 64, rank * 64);
    }
  } else if (warp == 1 && lane == 0 && rank == 0) {
    const uint32_t shape = (1u << 4) | (1u << 7) | (1u << 10) | ((128u / 8) << 17) | ((256u / 16) << 24);
    for (int k = 0; k < tiles; ++k) {
      const int s = k % STAGES;
      wait(full + 8 * s, (k / STAGES) & 1);
      asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
      for (int j = 0; j < 4; ++j) {
        const uint32_t at = base + s * STAGE + j * 32;
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(tensor), "l"(described(at)), "l"(described(at + A)), "r"(shape), "r"(k | j) : "memory");
      }
      tell(empty + 8 * s, 3);
    }
    tell(sums, 3);
  } else if (warp >= 2) {
    wait(sums, 0);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    const int part = warp % 4;
    for (int c = 0; c < 128; c += 4) {
      uint32_t r[4];
      asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(tensor + (part << 21) + c));
      asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
      for (int i = 0; i < 4; ++i) out[(blockIdx.x * 128 + part * 32 + lane) * 128 + c + i] = __uint_as_float(r[i]);
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  }
  __syncwarp();
  meet();
  if (warp == 1) asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 128;" ::"r"(tensor));
}
