// fault: "  mbar_wait(b1, 0);\n" => ""
// fault: "  mbar_wait(b0, 1);\n" => "  mbar_wait(b0, 0);\n"
// fault: "  mbar_expect(b2, 512); g2s(t2, in + 256, 512, b2);\n" => "  mbar_expect(b2, 512);\n"
// fault: "  __syncthreads();\n  if (t == 0) { mbar_expect(b0, 512); g2s(t0" => "  if (t == 0) { mbar_expect(b0, 512); g2s(t0"
// fault: "if (t == 0) { mbar_expect(b0, 512);" => "if (t == 0) { mbar_expect(b0, 1024);"
#include <cstdint>
#define DEV static __device__ __forceinline__
DEV uint32_t s2u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
DEV void mbar_init(uint32_t a, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(n)); }
DEV void mbar_expect(uint32_t a, int bytes) { asm volatile("mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%0], %1;" ::"r"(a), "r"(bytes) : "memory"); }
DEV void mbar_wait(uint32_t a, int parity) {
  asm volatile("{\n .reg .pred done;\n again:\n mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1, 0x989680;\n @!done bra again;\n}" ::"r"(a), "r"(parity) : "memory");
}
DEV void g2s(uint32_t dst, const void* src, int bytes, uint32_t bar) {
  asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst), "l"(src), "r"(bytes), "r"(bar) : "memory");
}
// No loop at all: three buffers, the first one twice.
__global__ void __launch_bounds__(128) straight(const float* in, float* out) {
  __shared__ alignas(128) float x[3][128];
  __shared__ uint64_t b[3];
  const int t = threadIdx.x;
  const uint32_t t0 = s2u(x[0]), t1 = s2u(x[1]), t2 = s2u(x[2]);
  const uint32_t b0 = s2u(&b[0]), b1 = s2u(&b[1]), b2 = s2u(&b[2]);
  if (t == 0) {
    mbar_init(b0, 1); mbar_init(b1, 1); mbar_init(b2, 1);
  }
  __syncthreads();
  if (t == 0) {
  mbar_expect(b0, 512); g2s(t0, in, 512, b0);
  mbar_expect(b1, 512); g2s(t1, in + 128, 512, b1);
  mbar_expect(b2, 512); g2s(t2, in + 256, 512, b2);
  }
  mbar_wait(b0, 0);
  float s = x[0][127 - t];
  __syncthreads();
  if (t == 0) { mbar_expect(b0, 512); g2s(t0, in + 384, 512, b0); }
  mbar_wait(b1, 0);
  s += x[1][127 - t];
  mbar_wait(b2, 0);
  s += x[2][127 - t];
  mbar_wait(b0, 1);
  s += x[0][127 - t];
  out[t] = s;
}
