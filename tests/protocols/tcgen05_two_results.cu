// fault: "mbar_wait(&tmem_empty[acc], acc_phase ^ 1);" => "mbar_wait(&tmem_empty[acc], acc_phase);"
// fault: "        umma_commit(&tmem_full[acc]);\n" => ""
// fault: "          umma_commit(&empty[stage]);\n" => ""
// fault: "          mbar_wait(&full[stage], phase);\n" => ""
// fault: "mbar_init(&tmem_empty[i], 128);" => "mbar_init(&tmem_empty[i], 4);"
// fault: "        asm volatile(\"tcgen05.wait::ld.sync.aligned;\" ::: \"memory\");\n" => ""
// fault: "      mbar_arrive(&tmem_empty[acc]);\n" => ""
// fault: "mbar_expect(&full[stage], kA + kB);" => "mbar_expect(&full[stage], kA + 2 * kB);"
// fault: "if (++acc == 2) { acc = 0; acc_phase ^= 1; }\n      }\n" => "if (++acc == 2) acc = 0;\n      }\n"
#include <cuda.h>
#include <cstdint>
constexpr int kStages = 4, kA = 128 * 128, kB = 64 * 128;
__device__ __forceinline__ uint32_t s2(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void mbar_init(uint64_t* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%1], %0;" ::"r"(n), "r"(s2(b))); }
__device__ __forceinline__ void mbar_expect(uint64_t* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%1], %0;" ::"r"(n), "r"(s2(b))); }
__device__ __forceinline__ void mbar_arrive(uint64_t* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(s2(b)) : "memory"); }
__device__ __forceinline__ void mbar_wait(uint64_t* b, int parity) {
  asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}" ::"r"(s2(b)), "r"(parity));
}
__device__ __forceinline__ void tma_2d(void* d, const CUtensorMap* m, uint64_t* b, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(s2(d)), "l"(m), "r"(s2(b)), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ void umma(uint32_t d, uint64_t a, uint64_t b, uint32_t idesc, bool acc) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(d), "l"(a), "l"(b), "r"(idesc), "r"((uint32_t)acc));
}
__device__ __forceinline__ void umma_commit(uint64_t* b) { asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(s2(b))); }
__device__ __forceinline__ uint64_t sdesc(const void* p) { return ((s2(p) & 0x3ffff) >> 4) | (1ull << 46) | (2ull << 61) | (64ull << 32); }
__global__ void __launch_bounds__(256) persistent(const __grid_constant__ CUtensorMap ta, const __grid_constant__ CUtensorMap tb, float* out, int tiles, int num_k) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ uint64_t full[kStages], empty[kStages], tmem_full[2], tmem_empty[2];
  __shared__ uint32_t tmem_ptr;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0 && lane == 0) {
    for (int i = 0; i < kStages; i++) { mbar_init(&full[i], 1); mbar_init(&empty[i], 1); }
    for (int i = 0; i < 2; i++) {
      mbar_init(&tmem_full[i], 1);
      mbar_init(&tmem_empty[i], 128);
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
  } else if (warp == 2) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(s2(&tmem_ptr)) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  asm volatile("tcgen05.fence::before_thread_sync;");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;");
  const uint32_t tmem = tmem_ptr;
  if (warp == 0) {
    if (lane == 0) {
      int stage = 0, phase = 0;
      for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        for (int k = 0; k < num_k; k++) {
          mbar_wait(&empty[stage], phase ^ 1);
          mbar_expect(&full[stage], kA + kB);
          tma_2d(smem + stage * kA, &ta, &full[stage], k * 64, t * 128);
          tma_2d(smem + kStages * kA + stage * kB, &tb, &full[stage], k * 64, t * 64);
          if (++stage == kStages) { stage = 0; phase ^= 1; }
        }
      }
    }
  } else if (warp == 1) {
    if (lane == 0) {
      int stage = 0, phase = 0, acc = 0, acc_phase = 0;
      for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        mbar_wait(&tmem_empty[acc], acc_phase ^ 1);
        asm volatile("tcgen05.fence::after_thread_sync;");
        for (int k = 0; k < num_k; k++) {
          mbar_wait(&full[stage], phase);
          asm volatile("tcgen05.fence::after_thread_sync;");
          for (int j = 0; j < 4; j++) umma(tmem + acc * 64, sdesc(smem + stage * kA + j * 32), sdesc(smem + kStages * kA + stage * kB + j * 32), 0x8100490, k | j);
          umma_commit(&empty[stage]);
          if (++stage == kStages) { stage = 0; phase ^= 1; }
        }
        umma_commit(&tmem_full[acc]);
        if (++acc == 2) { acc = 0; acc_phase ^= 1; }
      }
    }
  } else if (warp >= 4) {
    int acc = 0, acc_phase = 0;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
      mbar_wait(&tmem_full[acc], acc_phase);
      asm volatile("tcgen05.fence::after_thread_sync;");
      for (int c = 0; c < 64; c += 4) {
        uint32_t v[4];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(tmem + acc * 64 + c + ((warp & 3) << 21)));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        for (int i = 0; i < 4; i++) out[(t * 128 + threadIdx.x - 128) * 64 + c + i] = __uint_as_float(v[i]);
      }
      asm volatile("tcgen05.fence::before_thread_sync;");
      mbar_arrive(&tmem_empty[acc]);
      if (++acc == 2) { acc = 0; acc_phase ^= 1; }
    }
  }
  __syncthreads();
  if (warp == 2) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(tmem));
}
