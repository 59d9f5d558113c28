// fault: "  }\n  __syncthreads();\n  if (warp == 1) asm volatile(\"tcgen05.dealloc" => "  }\n  if (warp == 1) asm volatile(\"tcgen05.dealloc"
// fault: "      Bar::wait(&empty[s], p ^ 1);\n" => ""
// fault: "      Bar::wait(&full[s], p);\n" => ""
// fault: "      commit(&empty[s]);\n" => ""
// fault: "    commit(&acc_full);\n" => ""
// fault: "Bar::init(&empty[s], 1);" => "Bar::init(&empty[s], 128);"
// fault: "    Bar::wait(&acc_full, 0);\n" => ""
#include <cstdint>
#include <cuda.h>
constexpr int kStages = 4, kA = 16384, kB = 16384;
__device__ __forceinline__ uint32_t u32(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
struct Bar {
  static __device__ void init(uint64_t* b, uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(u32(b)), "r"(n)); }
  static __device__ void expect(uint64_t* b, uint32_t n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(u32(b)), "r"(n)); }
  static __device__ void wait(uint64_t* b, uint32_t p) {
    uint32_t ok = 0;
    while (!ok) asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(ok) : "r"(u32(b)), "r"(p) : "memory");
  }
};
__device__ __forceinline__ bool elect_one_sync() {
  uint32_t pred;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.b32 %0, 1, 0, p;\n}" : "=r"(pred));
  return pred;
}
__device__ __forceinline__ void tma(void* d, const CUtensorMap* m, int x, int y, uint64_t* b) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(u32(d)), "l"(m), "r"(x), "r"(y), "r"(u32(b)) : "memory");
}
__device__ __forceinline__ void commit(uint64_t* b) { asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(u32(b)) : "memory"); }
__device__ __forceinline__ uint64_t desc(const void* p) { return ((u32(p) & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 46) | (2ull << 61); }
__device__ __forceinline__ void mma(uint32_t c, uint64_t a, uint64_t b, uint32_t acc) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %3, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %4, p;\n}" ::"r"(c), "l"(a), "l"(b), "r"(acc), "r"(0x8200490u));
}
__global__ void __launch_bounds__(192) gemm(const __grid_constant__ CUtensorMap ta, const __grid_constant__ CUtensorMap tb, uint32_t* out, int kt) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ uint64_t full[kStages], empty[kStages], acc_full;
  __shared__ uint32_t tm;
  const int warp = threadIdx.x / 32;
  if (warp == 0 && elect_one_sync()) {
    for (int s = 0; s < kStages; ++s) {
      Bar::init(&full[s], 1);
      Bar::init(&empty[s], 1);
    }
    Bar::init(&acc_full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  if (warp == 1) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(u32(&tm)) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  asm volatile("tcgen05.fence::before_thread_sync;");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;");
  const uint32_t tmem = tm;
  if (warp == 0 && elect_one_sync()) {
    int s = 0; uint32_t p = 0;
    for (int k = 0; k < kt; ++k) {
      Bar::wait(&empty[s], p ^ 1);
      Bar::expect(&full[s], kA + kB);
      tma(smem + s * (kA + kB), &ta, k * 64, blockIdx.x * 128, &full[s]);
      tma(smem + s * (kA + kB) + kA, &tb, k * 64, blockIdx.y * 128, &full[s]);
      if (++s == kStages) { s = 0; p ^= 1; }
    }
  } else if (warp == 1 && elect_one_sync()) {
    int s = 0; uint32_t p = 0;
    for (int k = 0; k < kt; ++k) {
      Bar::wait(&full[s], p);
      asm volatile("tcgen05.fence::after_thread_sync;");
      const char* a = smem + s * (kA + kB);
#pragma unroll
      for (int j = 0; j < 4; ++j) mma(tmem, desc(a) + j * 2, desc(a + kA) + j * 2, (k | j) != 0);
      commit(&empty[s]);
      if (++s == kStages) { s = 0; p ^= 1; }
    }
    commit(&acc_full);
  } else if (warp >= 2) {
    Bar::wait(&acc_full, 0);
    asm volatile("tcgen05.fence::after_thread_sync;");
    uint32_t v[4];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(tmem + ((warp % 4) << 21)));
    asm volatile("tcgen05.wait::ld.sync.aligned;");
    out[threadIdx.x] = v[0] ^ v[1] ^ v[2] ^ v[3];
    asm volatile("tcgen05.fence::before_thread_sync;");
  }
  __syncthreads();
  if (warp == 1) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(tmem));
}
