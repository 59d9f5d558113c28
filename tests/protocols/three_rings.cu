// fault: "        mbar_wait(raw_full + 8 * s, p);\n" => ""
// fault: "        asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n" => ""
// fault: "        mbar_wait(done_empty + 8 * s, p ^ 1);\n" => ""
// fault: "        asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\");\n" => ""
// fault: "        mbar_arrive(raw_empty + 8 * s);\n" => ""
// fault: "        mbar_wait(done_full + 8 * s, p);\n" => ""
// fault: "mbar_init(done_full + 8 * s, 64);" => "mbar_init(done_full + 8 * s, 2);"
// fault: "        mbar_arrive(done_empty + 8 * s);\n" => ""
#include <cstdint>
#define DEV static __device__ __forceinline__
DEV uint32_t s2u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
DEV void mbar_init(uint32_t a, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(n)); }
DEV void mbar_expect(uint32_t a, int bytes) { asm volatile("mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%0], %1;" ::"r"(a), "r"(bytes) : "memory"); }
DEV void mbar_arrive(uint32_t a) { asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(a) : "memory"); }
DEV void mbar_wait(uint32_t a, int parity) {
  asm volatile("{\n .reg .pred done;\n again:\n mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1, 0x989680;\n @!done bra again;\n}" ::"r"(a), "r"(parity) : "memory");
}
DEV void g2s(uint32_t dst, const void* src, int bytes, uint32_t bar) {
  asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst), "l"(src), "r"(bytes), "r"(bar) : "memory");
}
DEV void s2g(void* dst, uint32_t src, int bytes) { asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst), "r"(src), "r"(bytes) : "memory"); }
DEV int elect() {
  int one = 0;
  asm volatile("{\n .reg .pred e;\n elect.sync _|e, -1;\n @e mov.b32 %0, 1;\n}" : "+r"(one));
  return one;
}
// Three roles: load, change, store.
__global__ void __launch_bounds__(128) relay(const float* in, float* out, int n) {
  constexpr int S = 2, ROW = 256;
  __shared__ alignas(128) float raw[S][ROW];
  __shared__ alignas(128) float cooked[S][ROW];
  __shared__ uint64_t bars[4 * S];
  const uint32_t raw_full = s2u(bars), raw_empty = raw_full + 8 * S, done_full = raw_empty + 8 * S, done_empty = done_full + 8 * S;
  if (threadIdx.x == 0) {
    for (int s = 0; s < S; s++) {
      mbar_init(raw_full + 8 * s, 1);
      mbar_init(raw_empty + 8 * s, 64);
      mbar_init(done_full + 8 * s, 64);
      mbar_init(done_empty + 8 * s, 1);
    }
  }
  __syncthreads();
  switch (threadIdx.x / 32) {
    case 0:
      if (elect()) for (int i = 0; i < n; i++) {
        const int s = i % S, p = (i / S) & 1;
        mbar_wait(raw_empty + 8 * s, p ^ 1);
        mbar_expect(raw_full + 8 * s, ROW * 4);
        g2s(s2u(raw[s]), in + i * ROW, ROW * 4, raw_full + 8 * s);
      }
      break;
    case 1:
      if (elect()) for (int i = 0; i < n; i++) {
        const int s = i % S, p = (i / S) & 1;
        mbar_wait(done_full + 8 * s, p);
        s2g(out + i * ROW, s2u(cooked[s]), ROW * 4);
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        mbar_arrive(done_empty + 8 * s);
      }
      break;
    default:
      for (int i = 0; i < n; i++) {
        const int s = i % S, p = (i / S) & 1;
        mbar_wait(raw_full + 8 * s, p);
        mbar_wait(done_empty + 8 * s, p ^ 1);
        for (int r = threadIdx.x - 64; r < ROW; r += 64) cooked[s][r] = raw[s][r] * 3.f;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        mbar_arrive(done_full + 8 * s);
        mbar_arrive(raw_empty + 8 * s);
      }
  }
}
