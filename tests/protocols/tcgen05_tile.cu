// fault: "    tmem_dealloc(tmem_base, 128);\n" => ""
// fault: "    tmem_dealloc(tmem_base, 128);" => "    tmem_dealloc(tmem_base, 64);"
// fault: "  tmem_load_wait();\n" => ""
// fault: "    umma_commit(&mma_done);\n" => ""
// fault: "  mbar_wait(&mma_done, 0);\n" => ""
// fault: "  mbar_wait(&mma_done, 0);" => "  mbar_wait(&mma_done, 1);"
// fault: "    mbar_wait(&tma_done, 0);\n" => ""
#include <cstdint>
#include <cuda.h>
__device__ inline uint32_t cvta(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ inline void mbar_init(uint64_t* b, uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(cvta(b)), "r"(n)); }
__device__ inline void mbar_expect(uint64_t* b, uint32_t n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(cvta(b)), "r"(n) : "memory"); }
__device__ inline void mbar_wait(uint64_t* b, uint32_t p) {
  asm volatile("{\n\t.reg .pred P1;\n\tLAB_WAIT:\n\tmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1, 0x989680;\n\t@P1 bra.uni DONE;\n\tbra.uni LAB_WAIT;\n\tDONE:\n\t}" ::"r"(cvta(b)), "r"(p) : "memory");
}
__device__ inline void tma_2d(void* d, const CUtensorMap* m, int x, int y, uint64_t* b) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(cvta(d)), "l"(m), "r"(x), "r"(y), "r"(cvta(b)) : "memory");
}
__device__ inline void tmem_alloc(uint32_t* s, uint32_t n) { asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(cvta(s)), "r"(n) : "memory"); }
__device__ inline void tmem_relinquish() { asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"); }
__device__ inline void tmem_dealloc(uint32_t t, uint32_t n) { asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(t), "r"(n)); }
__device__ inline void umma(uint32_t d, uint64_t a, uint64_t b, uint32_t i, bool acc) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\ttcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n\t}" ::"r"(d), "l"(a), "l"(b), "r"(i), "r"((uint32_t)acc));
}
__device__ inline void umma_commit(uint64_t* b) { asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(cvta(b)) : "memory"); }
__device__ inline void tmem_load4(uint32_t t, uint32_t (&v)[4]) { asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(t)); }
__device__ inline void tmem_load_wait() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
__device__ inline void tc_fence_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
__device__ inline void tc_fence_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
__device__ inline uint64_t umma_desc(const void* p) { return ((cvta(p) & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 46) | (2ull << 61); }

__global__ void __launch_bounds__(128) umma_tile(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, uint4* out) {
  extern __shared__ __align__(1024) uint8_t smem[];
  uint8_t* sA = smem;
  uint8_t* sB = smem + 16384;
  __shared__ uint64_t tma_done, mma_done;
  __shared__ uint32_t tmem_slot;
  int warp = threadIdx.x / 32;
  if (warp == 0) {
    tmem_alloc(&tmem_slot, 128);
    tmem_relinquish();
  } else if (threadIdx.x == 32) {
    mbar_init(&tma_done, 1);
    mbar_init(&mma_done, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  tc_fence_before();
  __syncthreads();
  tc_fence_after();
  uint32_t tmem_base = tmem_slot;
  if (threadIdx.x == 0) {
    mbar_expect(&tma_done, 16384 + 16384);
    tma_2d(sA, &ma, 0, blockIdx.x * 128, &tma_done);
    tma_2d(sB, &mb, 0, 0, &tma_done);
    mbar_wait(&tma_done, 0);
    for (int k = 0; k < 4; ++k) umma(tmem_base, umma_desc(sA) + k * 2, umma_desc(sB) + k * 2, 0x8200490, k > 0);
    umma_commit(&mma_done);
  }
  __syncwarp();
  mbar_wait(&mma_done, 0);
  tc_fence_after();
  uint32_t v[4];
  tmem_load4(tmem_base + (warp << 21), v);
  tmem_load_wait();
  out[blockIdx.x * 128 + threadIdx.x] = make_uint4(v[0], v[1], v[2], v[3]);
  tc_fence_before();
  __syncthreads();
  if (warp == 0) {
    tmem_dealloc(tmem_base, 128);
  }
}
