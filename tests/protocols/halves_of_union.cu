// fault: "wait(f + i, ph);" => "wait(f + i, 0u);"
// fault: "wait(e + i, ph ^ 1);" => ""
// fault: "[%0], 32;" => "[%0], 33;"
// fault: "expect_tx.shared.b64 _, [%0], 128;" => "expect_tx.shared.b64 _, [%0], 64;"

#include <cstdint>
constexpr int S = 2;
union U { uint32_t w; struct { uint16_t lo, hi; } h; };
__device__ uint32_t sa(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void wait(uint64_t* b, uint32_t p) { asm volatile("{.reg .pred q; R: mbarrier.try_wait.parity.shared.b64 q, [%0], %1; @!q bra R;}" :: "r"(sa(b)), "r"(p) : "memory"); }
__global__ void __launch_bounds__(64) k(const float* g, float* o, int n) {
  __shared__ alignas(16) float s[S][32];
  __shared__ uint64_t f[S], e[S];
  if (threadIdx.x == 0) for (int i = 0; i < S; ++i) { asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(sa(f + i)));
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(sa(e + i))); }
  __syncthreads();
  if (threadIdx.x == 32) {
    for (int t = 0; t < n; ++t) { int i = t % S; uint32_t ph = (t / S) & 1;
      wait(e + i, ph ^ 1);
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" :: "r"(sa(f + i)));
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" :: "r"(sa(s[i])), "l"(g + t * 32), "r"(sa(f + i)) : "memory"); }
  } else if (threadIdx.x < 32) {
    U u; u.w = 0;
    for (int t = 0; t < n; ++t) { int i = t % S; uint32_t ph = u.h.lo & 1;
      wait(f + i, ph);
      o[t * 32 + threadIdx.x] = s[i][threadIdx.x];
      asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(sa(e + i)) : "memory");
      if (i == S - 1) u.w ^= 1; }
  }
}
