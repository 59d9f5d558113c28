// fault: "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64" => "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64"
// fault: "mbarrier.arrive.release.cluster.shared::cluster.b64" => "mbarrier.arrive.release.cta.shared::cluster.b64"
// fault: "mbar_init(&freed[i], 4)" => "mbar_init(&freed[i], 1)"
// fault: "    __syncthreads();\n    if (threadIdx.x == 0) mbar_arrive_remote" => "    if (threadIdx.x == 0) mbar_arrive_remote"
// fault: "= acc;\n  cluster_arrive();\n  cluster_wait();\n" => "= acc;\n"
#include <cstdint>
__device__ __forceinline__ uint32_t smem_u32(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void mbar_init(uint64_t *bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_expect_tx(uint64_t *bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(bar)), "r"(bytes) : "memory");
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
// cluster of four: rank 0 loads for all, others tell rank 0 when a stage is free
__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(64) broadcast(float *out, const float *in, int n) {
  __shared__ alignas(128) float t[2][256];
  __shared__ uint64_t full[2], freed[2];
  const uint32_t r = cluster_rank();
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; i++) {
      mbar_init(&full[i], 1);
      mbar_init(&freed[i], 4);
    }
    fence_mbar_init();
  }
  cluster_arrive();
  cluster_wait();
  float acc = 0;
  for (int i = 0; i < n; i++) {
    const int s = i & 1;
    const uint32_t p = (i / 2) & 1;
    if (threadIdx.x == 0) {
      mbar_expect_tx(&full[s], 1024);
      if (r == 0) {
        mbar_wait_cluster(&freed[s], p ^ 1);
        bulk_load_multicast(t[s], in + i * 256, 1024, &full[s], 0xf);
      }
    }
    mbar_wait(&full[s], p);
    acc += t[s][threadIdx.x] + t[s][threadIdx.x + 64];
    __syncthreads();
    if (threadIdx.x == 0) mbar_arrive_remote(&freed[s], 0);
  }
  out[blockIdx.x * 64 + threadIdx.x] = acc;
  cluster_arrive();
  cluster_wait();
}
