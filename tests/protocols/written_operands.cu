// fault: "    asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n" => ""
// fault: "    mbar_wait(bar, i & 1);\n" => ""
// fault: "mbar_wait(bar, i & 1);" => "mbar_wait(bar, 0);"
// fault: "    __syncthreads();\n    if (warp == 0 && elect())" => "    if (warp == 0 && elect())"
// fault: "      t5_commit(bar);\n" => ""
#include <cstdint>
#define DEV static __device__ __forceinline__
DEV uint32_t s2u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
DEV void mbar_init(uint32_t a, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(n)); }
DEV void mbar_wait(uint32_t a, int parity) {
  asm volatile("{\n .reg .pred done;\n again:\n mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1, 0x989680;\n @!done bra again;\n}" ::"r"(a), "r"(parity) : "memory");
}
DEV int elect() {
  int one = 0;
  asm volatile("{\n .reg .pred e;\n elect.sync _|e, -1;\n @e mov.b32 %0, 1;\n}" : "+r"(one));
  return one;
}
DEV uint64_t smem_desc(uint32_t a) { return uint64_t((a >> 4) & 0x3fff) | uint64_t(64) << 32 | uint64_t(1) << 46 | uint64_t(2) << 61; }
DEV void t5_commit(uint32_t bar) { asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(bar) : "memory"); }
DEV void t5_mma(int d, uint64_t a, uint64_t b, uint32_t idesc, int acc) {
  asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %4, 0;\n tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(d), "l"(a), "l"(b), "r"(idesc), "r"(acc));
}
DEV void t5_alloc(uint32_t slot, int n) { asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(slot), "r"(n) : "memory"); }
DEV void t5_free(int t, int n) { asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(t), "r"(n)); }
DEV void t5_ld4(float* v, int t) { asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];" : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]) : "r"(t)); }
DEV void t5_wait_ld() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
DEV void t5_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
DEV void t5_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
// Threads write both operands, one of them multiplies.
__global__ void __launch_bounds__(128) mma_of_registers(const uint4* __restrict__ a, float* out, int n) {
  __shared__ alignas(1024) uint4 op[2][1024];
  __shared__ uint64_t b8;
  __shared__ int slot;
  const uint32_t bar = s2u(&b8);
  const int warp = threadIdx.x / 32;
  if (warp == 0) {
    t5_alloc(s2u(&slot), 64);
    if (elect()) mbar_init(bar, 1);
  }
  __syncthreads();
  const int tm = slot;
  for (int i = 0; i < n; i++) {
    for (int j = threadIdx.x; j < 1024; j += 128) {
      op[0][j] = a[(2 * i) * 1024 + j];
      op[1][j] = a[(2 * i + 1) * 1024 + j];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (warp == 0 && elect()) {
      t5_mma(tm, smem_desc(s2u(op[0])), smem_desc(s2u(op[1])), 0x8100490, i > 0);
      t5_commit(bar);
    }
    mbar_wait(bar, i & 1);
  }
  t5_after();
  float v[4];
  t5_ld4(v, tm + (warp << 21));
  t5_wait_ld();
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = v[i];
  t5_before();
  __syncthreads();
  if (warp == 0) t5_free(tm, 64);
}
