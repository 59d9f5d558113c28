// fault: "mbar_arrive_remote(&s.bars.empty[stage], t % 32)" => "mbar_arrive(&s.bars.empty[stage])"
// fault: "&s.bars.full[stage], 3)" => "&s.bars.full[stage], 1)"
// fault: "mbar_init(&sm.bars.empty[i], 4)" => "mbar_init(&sm.bars.empty[i], 2)"
// fault: "    fence_mbar_init();\n  }\n  cluster_arrive();\n  cluster_wait();\n" => "    fence_mbar_init();\n  }\n  __syncthreads();\n"
// fault: "mbar_expect_tx(&s.bars.full[stage], 2 * kHalf)" => "mbar_expect_tx(&s.bars.full[stage], kHalf)"
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
__device__ __forceinline__ void mbar_arrive_remote(uint64_t *bar, uint32_t cta) {
  asm volatile("{\n\t.reg .b32 ra;\n\tmapa.shared::cluster.u32 ra, %0, %1;\n\t"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [ra];\n\t}" ::"r"(smem_u32(bar)), "r"(cta) : "memory");
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
__device__ __forceinline__ void mbar_wait_cluster(uint64_t *bar, uint32_t parity) {
  asm volatile("{\n\t.reg .pred P1;\n\tLAB_WAIT:\n\t"
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P1, [%0], %1;\n\t"
               "@P1 bra DONE;\n\tbra LAB_WAIT;\n\tDONE:\n\t}" ::"r"(smem_u32(bar)), "r"(parity) : "memory");
}
__device__ __forceinline__ void fence_mbar_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void bulk_load_multicast(void *dst, const void *src, uint32_t bytes, uint64_t *bar, uint16_t mask) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(smem_u32(dst)),
               "l"(src), "r"(bytes), "r"(smem_u32(bar)), "h"(mask) : "memory");
}
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ __forceinline__ uint32_t cluster_rank() { uint32_t r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
// multicast GEMM-like sum over a cluster of two, persistent over tiles, static members of a struct
struct Mc {
  static constexpr int kS = 3, kHalf = 1024;
  struct Bars { uint64_t full[kS]; uint64_t empty[kS]; };
  struct Smem { alignas(128) unsigned char box[kS][2 * kHalf]; Bars bars; };
  Smem &s;
  unsigned rank;
  int stage;
  uint32_t phase;
  __device__ Mc(Smem &sm, unsigned r) : s(sm), rank(r), stage(0), phase(0) {}
  __device__ void next() {
    if (++stage == kS) {
      stage = 0;
      phase ^= 1;
    }
  }
  __device__ void produce(const unsigned char *src) {
    mbar_wait_cluster(&s.bars.empty[stage], phase ^ 1);
    mbar_expect_tx(&s.bars.full[stage], 2 * kHalf);
    bulk_load_multicast(s.box[stage] + rank * kHalf, src + rank * kHalf, kHalf, &s.bars.full[stage], 3);
    next();
  }
  __device__ unsigned consume(int t) {
    mbar_wait(&s.bars.full[stage], phase);
    unsigned v = 0;
    for (int i = t; i < 2 * kHalf; i += 64) v += s.box[stage][i];
    __syncwarp();
    if (t % 32 < 2) mbar_arrive_remote(&s.bars.empty[stage], t % 32);
    next();
    return v;
  }
};
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(96) mcast(unsigned *out, const unsigned char *in, int n) {
  __shared__ Mc::Smem sm;
  if (threadIdx.x == 0) {
    for (int i = 0; i < Mc::kS; ++i) {
      mbar_init(&sm.bars.full[i], 1);
      mbar_init(&sm.bars.empty[i], 4);
    }
    fence_mbar_init();
  }
  cluster_arrive();
  cluster_wait();
  Mc mc(sm, cluster_rank());
  if (threadIdx.x >= 64) {
    if (threadIdx.x == 64)
      for (int k = 0; k < n; ++k) mc.produce(in + k * 2048);
  } else {
    unsigned sum = 0;
    for (int k = 0; k < n; ++k) {
      unsigned v = mc.consume(threadIdx.x);
      sum += v;
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
  }
  cluster_arrive();
  cluster_wait();
}
