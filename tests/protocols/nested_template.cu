// fault: "        tm_wait_ld();\n" => ""
// fault: "sizeof(s.a[0]) + sizeof(s.b[0]));\n" => "sizeof(s.a[0]));\n"
// fault: "((t / 2) & 1) ^ 1" => "(t / 2) & 1"
// fault: "phase ^= stage == 0 ? 1 : 0;" => "phase ^= stage == 1 ? 1 : 0;"
#include <cstdint>
#include <cuda_bf16.h>
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
__device__ __forceinline__ void bulk_load(void *dst, const void *src, uint32_t bytes, uint64_t *bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem_u32(dst)),
               "l"(src), "r"(bytes), "r"(smem_u32(bar)) : "memory");
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
// Blackwell: load warp, mma warp (allocates), epilogue warpgroup; two accumulators
struct Tmem {
  static constexpr uint32_t kCols = 128;
  struct Slot { uint32_t base; };
  __device__ static void allocate(Slot *s) { tm_alloc(&s->base, kCols); }
  __device__ static void release(uint32_t base) { tm_dealloc(base, kCols); }
};
template <int kStages> struct Kernel {
  struct Storage {
    alignas(1024) __nv_bfloat16 a[kStages][128 * 16];
    alignas(1024) __nv_bfloat16 b[kStages][64 * 16];
    uint64_t tma_full[kStages], tma_empty[kStages];
    uint64_t acc_full[2], acc_empty[2];
    Tmem::Slot slot;
  };
  struct Ring {
    int stage = 0; uint32_t phase = 0;
    __device__ __forceinline__ void advance() { stage = (stage + 1) % kStages; phase ^= stage == 0 ? 1 : 0; }
  };
  __device__ static void load(Storage &s, const __nv_bfloat16 *A, const __nv_bfloat16 *B, int n) {
    Ring r;
    for (int k = 0; k < n; ++k, r.advance()) {
      mbar_wait(&s.tma_empty[r.stage], r.phase ^ 1);
      mbar_expect_tx(&s.tma_full[r.stage], sizeof(s.a[0]) + sizeof(s.b[0]));
      bulk_load(s.a[r.stage], A + k * 2048, sizeof(s.a[0]), &s.tma_full[r.stage]);
      bulk_load(s.b[r.stage], B + k * 1024, sizeof(s.b[0]), &s.tma_full[r.stage]);
    }
  }
  __device__ static void mma(Storage &s, uint32_t tm, int tiles, int kPer) {
    Ring r;
    for (int t = 0; t < tiles; ++t) {
      const int acc = t % 2;
      mbar_wait(&s.acc_empty[acc], ((t / 2) & 1) ^ 1);
      tm_fence_after();
      for (int k = 0; k < kPer; ++k, r.advance()) {
        mbar_wait(&s.tma_full[r.stage], r.phase);
        tm_fence_after();
        tm_mma(tm + acc * 64, mma_desc(s.a[r.stage]), mma_desc(s.b[r.stage]), 0x8100490, k > 0);
        tm_commit(&s.tma_empty[r.stage]);
      }
      tm_commit(&s.acc_full[acc]);
    }
  }
  __device__ static void epilogue(Storage &s, uint32_t tm, float *out, int tiles) {
    const int w = threadIdx.x / 32 % 4;
    for (int t = 0; t < tiles; ++t) {
      const int acc = t % 2;
      mbar_wait(&s.acc_full[acc], (t / 2) & 1);
      tm_fence_after();
      float sum = 0;
      for (int c = 0; c < 64; c += 8) {
        uint32_t v[8];
        tm_ld8(tm + acc * 64 + c + (w << 21), v);
        tm_wait_ld();
        for (int i = 0; i < 8; ++i) sum += __uint_as_float(v[i]);
      }
      tm_fence_before();
      mbar_arrive(&s.acc_empty[acc]);
      out[t * 128 + threadIdx.x % 128] = sum;
    }
  }
};
using K4 = Kernel<4>;
__global__ void __launch_bounds__(192) gemm100(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *out, int tiles, int kPer) {
  extern __shared__ __align__(1024) unsigned char raw[];
  K4::Storage &s = *reinterpret_cast<K4::Storage *>(raw);
  const int warp = threadIdx.x / 32;
  if (warp == 0 && elect_one()) {
    for (int i = 0; i < 4; ++i) {
      mbar_init(&s.tma_full[i], 1);
      mbar_init(&s.tma_empty[i], 1);
    }
    for (int i = 0; i < 2; ++i) {
      mbar_init(&s.acc_full[i], 1);
      mbar_init(&s.acc_empty[i], 128);
    }
    fence_mbar_init();
  }
  if (warp == 1) {
    Tmem::allocate(&s.slot);
    tm_relinquish();
  }
  tm_fence_before();
  __syncthreads();
  tm_fence_after();
  const uint32_t tm = s.slot.base;
  if (warp == 0) {
    if (elect_one()) K4::load(s, A, B, tiles * kPer);
  } else if (warp == 1) {
    if (elect_one()) K4::mma(s, tm, tiles, kPer);
  } else {
    K4::epilogue(s, tm, out, tiles);
  }
  tm_fence_before();
  __syncthreads();
  if (warp == 1) {
    tm_fence_after();
    Tmem::release(tm);
  }
}
