// fault: "expect(bar, 4 * 64 * 4);" => "expect(bar, 3 * 64 * 4);"
// fault: "    wait(bar, it & 1);\n" => ""
// fault: "  cluster_sync();\n  for" => "  for"
// fault: "    cluster_sync();\n    if" => "    if"
// fault: "st_async(rb + (rank * 64 + threadIdx.x) * 4, v, rbar);" => "st_async(rb + (rank * 64 + threadIdx.x) * 4, v, bar);"
#include <cstdint>
__device__ inline uint32_t sp(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ inline uint32_t mapa(uint32_t a, int r) { uint32_t x; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(r)); return x; }
__device__ inline void st_async(uint32_t a, uint32_t v, uint32_t bar) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(a), "r"(v), "r"(bar) : "memory");
}
__device__ inline void expect(uint32_t bar, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(n) : "memory"); }
__device__ inline void wait(uint32_t bar, int p) {
  asm volatile("{\n.reg .pred ok;\nL:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 ok, [%0], %1;\n@!ok bra L;\n}" ::"r"(bar), "r"(p) : "memory");
}
__device__ inline void cluster_sync() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }
// All to all by asynchronous stores.
__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(64) exchange(const uint32_t* in, uint32_t* out, int n) {
  __shared__ uint32_t box[4 * 64];
  __shared__ uint64_t done;
  const uint32_t bar = sp(&done);
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  cluster_sync();
  for (int it = 0; it < n; it++) {
    if (threadIdx.x == 0) expect(bar, 4 * 64 * 4);
    uint32_t v = in[(it * gridDim.x + blockIdx.x) * 64 + threadIdx.x];
    for (int r = 0; r < 4; r++) {
      const uint32_t rb = mapa(sp(box), r), rbar = mapa(bar, r);
      st_async(rb + (rank * 64 + threadIdx.x) * 4, v, rbar);
    }
    wait(bar, it & 1);
    uint32_t s = 0;
    for (int r = 0; r < 4; r++) s += box[r * 64 + threadIdx.x];
    out[(it * gridDim.x + blockIdx.x) * 64 + threadIdx.x] = s;
    cluster_sync();
    if (s == 77) out[0] = 1;
  }
  cluster_sync();
}
