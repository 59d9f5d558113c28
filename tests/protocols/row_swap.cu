// fault: "  cluster_arrive();\n  cluster_wait();\n  const float v" => "  __syncthreads();\n  const float v"
#include <cstdint>
__device__ __forceinline__ uint32_t smem_u32(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void mbar_init(uint64_t *bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_arrive_remote(uint64_t *bar, uint32_t cta) {
  asm volatile("{\n\t.reg .b32 ra;\n\tmapa.shared::cluster.u32 ra, %0, %1;\n\t"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [ra];\n\t}" ::"r"(smem_u32(bar)), "r"(cta) : "memory");
}
__device__ __forceinline__ void mbar_wait_cluster(uint64_t *bar, uint32_t parity) {
  asm volatile("{\n\t.reg .pred P1;\n\tLAB_WAIT:\n\t"
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P1, [%0], %1;\n\t"
               "@P1 bra DONE;\n\tbra LAB_WAIT;\n\tDONE:\n\t}" ::"r"(smem_u32(bar)), "r"(parity) : "memory");
}
__device__ __forceinline__ void fence_mbar_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ __forceinline__ uint32_t cluster_rank() { uint32_t r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ uint32_t map_to(const void *p, uint32_t cta) {
  uint32_t r; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(smem_u32(p)), "r"(cta)); return r;
}
// a pair of blocks gives a row to the peer
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) swap_rows(float *out, const float *in) {
  __shared__ float mine[128];
  __shared__ uint64_t got;
  const uint32_t me = cluster_rank();
  const uint32_t peer = me ^ 1;
  if (threadIdx.x == 0) {
    mbar_init(&got, 128);
    fence_mbar_init();
  }
  cluster_arrive();
  cluster_wait();
  const float v = in[blockIdx.x * 128 + threadIdx.x];
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(map_to(&mine[threadIdx.x], peer)), "f"(v) : "memory");
  mbar_arrive_remote(&got, peer);
  mbar_wait_cluster(&got, 0);
  out[blockIdx.x * 128 + threadIdx.x] = mine[127 - threadIdx.x];
  cluster_arrive();
  cluster_wait();
}
