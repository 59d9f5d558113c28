// fault: "    for (int s = 0; s < R; s++) mbar_arrive(empty + 8 * s);\n" => ""
// fault: "for (int s = 0; s < R; s++) mbar_arrive(empty + 8 * s);" => "for (int s = 0; s < R - 1; s++) mbar_arrive(empty + 8 * s);"
// fault: "mbar_wait(empty + 8 * (j % R), (j / R) & 1);" => "mbar_wait(empty + 8 * (j % R), ((j / R) & 1) ^ 1);"
// fault: "      mbar_arrive(empty + 8 * (j % R));\n" => ""
// fault: "mbar_wait(full + 8 * (j % R), (j / R) & 1);" => "mbar_wait(full + 8 * (j % R), j & 1);"
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
// Those who read say first that all places are free.
template <int R>
__global__ void __launch_bounds__(64) primed(const int* in, int* out, int n) {
  __shared__ alignas(16) int place[R][32];
  __shared__ uint64_t bars[2 * R];
  const uint32_t full = s2u(bars), empty = full + R * 8;
  if (threadIdx.x < 2 * R) mbar_init(full + threadIdx.x * 8, threadIdx.x < R ? 1 : 32);
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int s = 0; s < R; s++) mbar_arrive(empty + 8 * s);
    int v = 0;
    for (int j = 0; j < n; j++) {
      mbar_wait(full + 8 * (j % R), (j / R) & 1);
      v += place[j % R][31 - threadIdx.x];
      mbar_arrive(empty + 8 * (j % R));
    }
    out[threadIdx.x] = v;
  } else if (threadIdx.x == 32) {
    for (int j = 0; j < n; j++) {
      mbar_wait(empty + 8 * (j % R), (j / R) & 1);
      mbar_expect(full + 8 * (j % R), 128);
      g2s(s2u(place[j % R]), in + j * 32, 128, full + 8 * (j % R));
    }
  }
}
template __global__ void primed<7>(const int*, int*, int);
