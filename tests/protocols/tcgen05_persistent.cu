// fault: "      mbar_wait(&s.acc_full[ac], (j >> 1) & 1);\n      tm_fence_after();\n" => "      mbar_wait(&s.acc_full[ac], (j >> 1) & 1);\n"
// fault: "      tm_fence_before();\n      mbar_arrive(" => "      mbar_arrive("
// fault: "mbar_init(&s.acc_empty[i], 128)" => "mbar_init(&s.acc_empty[i], 4)"
// fault: "        mbar_wait(&s.acc_empty[ac], ((j >> 1) & 1) ^ 1);\n" => ""
// fault: "mbar_wait(&s.acc_full[ac], (j >> 1) & 1)" => "mbar_wait(&s.acc_full[ac], j & 1)"
#include <cstdint>
__device__ __forceinline__ uint32_t smem_u32(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void mbar_init(uint64_t *bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_expect_tx(uint64_t *bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(bar)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t *bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_u32(bar)) : "memory");
}
__device__ __forceinline__ bool mbar_try_wait(uint64_t *bar, uint32_t parity) {
  uint32_t ok;
  asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
               : "=r"(ok) : "r"(smem_u32(bar)), "r"(parity) : "memory");
  return ok;
}
__device__ __forceinline__ void mbar_wait(uint64_t *bar, uint32_t parity) {
  while (!mbar_try_wait(bar, parity)) {}
}
__device__ __forceinline__ void fence_mbar_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void tma_load_2d(void *dst, const void *map, uint64_t *bar, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(smem_u32(dst)),
               "l"(map), "r"(smem_u32(bar)), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ bool elect_one() {
  uint32_t ok;
  asm volatile("{\n\t.reg .pred p;\n\telect.sync _|p, 0xFFFFFFFF;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(ok));
  return ok;
}
__device__ __forceinline__ uint64_t mma_desc(const void *p) {
  uint64_t d = 0;
  d |= (uint64_t)((smem_u32(p) & 0x3FFFF) >> 4);
  d |= (uint64_t)1 << 16;
  d |= (uint64_t)64 << 32;
  d |= (uint64_t)1 << 62;
  return d;
}
__device__ __forceinline__ void tm_alloc(uint32_t *slot, uint32_t cols) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(smem_u32(slot)), "r"(cols) : "memory");
}
__device__ __forceinline__ void tm_relinquish() { asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"); }
__device__ __forceinline__ void tm_dealloc(uint32_t t, uint32_t cols) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(t), "r"(cols));
}
__device__ __forceinline__ void tm_mma(uint32_t d, uint64_t a, uint64_t b, uint32_t idesc, uint32_t acc) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\ttcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n\t}" ::"r"(d), "l"(a), "l"(b), "r"(idesc), "r"(acc) : "memory");
}
__device__ __forceinline__ void tm_commit(uint64_t *bar) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(smem_u32(bar)) : "memory");
}
__device__ __forceinline__ void tm_ld8(uint32_t t, uint32_t (&r)[8]) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]) : "r"(t));
}
__device__ __forceinline__ void tm_wait_ld() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void tm_fence_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
__device__ __forceinline__ void tm_fence_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
// warps with roles: 0 loads, 1 multiplies, 4 to 7 store; two accumulators
constexpr int NS = 3, TILE_A = 128 * 64 * 2, TILE_B = 64 * 64 * 2;
struct Shared {
  alignas(1024) uint8_t a[NS][TILE_A];
  alignas(1024) uint8_t b[NS][TILE_B];
  uint64_t full[NS], empty[NS], acc_full[2], acc_empty[2];
  uint32_t slot;
};
__global__ void __launch_bounds__(256) persistent(const void *ma, const void *mb, float *out, int tiles, int ksteps) {
  extern __shared__ uint8_t mem[];
  Shared &s = *reinterpret_cast<Shared *>(mem);
  const int warp = threadIdx.x / 32;
  if (warp == 2) {
    tm_alloc(&s.slot, 128);
    tm_relinquish();
  }
  if (warp == 0 && elect_one()) {
    for (int i = 0; i < NS; ++i) {
      mbar_init(&s.full[i], 1);
      mbar_init(&s.empty[i], 1);
    }
    for (int i = 0; i < 2; ++i) {
      mbar_init(&s.acc_full[i], 1);
      mbar_init(&s.acc_empty[i], 128);
    }
    fence_mbar_init();
  }
  tm_fence_before();
  __syncthreads();
  tm_fence_after();
  const uint32_t tm = s.slot;
  if (warp == 0) {
    if (elect_one()) {
      int n = 0;
      for (int t = blockIdx.x; t < tiles; t += gridDim.x)
        for (int k = 0; k < ksteps; ++k, ++n) {
          const int st = n % NS;
          mbar_wait(&s.empty[st], ((n / NS) & 1) ^ 1);
          mbar_expect_tx(&s.full[st], TILE_A + TILE_B);
          tma_load_2d(s.a[st], ma, &s.full[st], k * 64, t * 128);
          tma_load_2d(s.b[st], mb, &s.full[st], k * 64, 0);
        }
    }
  } else if (warp == 1) {
    if (elect_one()) {
      int n = 0, j = 0;
      for (int t = blockIdx.x; t < tiles; t += gridDim.x, ++j) {
        const int ac = j & 1;
        mbar_wait(&s.acc_empty[ac], ((j >> 1) & 1) ^ 1);
        tm_fence_after();
        for (int k = 0; k < ksteps; ++k, ++n) {
          const int st = n % NS;
          mbar_wait(&s.full[st], (n / NS) & 1);
          tm_fence_after();
          tm_mma(tm + ac * 64, mma_desc(s.a[st]), mma_desc(s.b[st]), 0x8100490, k != 0);
          tm_commit(&s.empty[st]);
        }
        tm_commit(&s.acc_full[ac]);
      }
    }
  } else if (warp >= 4) {
    int j = 0;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x, ++j) {
      const int ac = j & 1;
      mbar_wait(&s.acc_full[ac], (j >> 1) & 1);
      tm_fence_after();
      float *row = out + (size_t)(t * 128 + threadIdx.x - 128) * 64;
      for (int c = 0; c < 64; c += 8) {
        uint32_t r[8];
        tm_ld8(tm + ac * 64 + ((uint32_t)(warp - 4) << 21) + c, r);
        tm_wait_ld();
        for (int i = 0; i < 8; ++i) row[c + i] = __uint_as_float(r[i]);
      }
      tm_fence_before();
      mbar_arrive(&s.acc_empty[ac]);
    }
  }
  tm_fence_before();
  __syncthreads();
  if (warp == 2) tm_dealloc(tm, 128);
}
