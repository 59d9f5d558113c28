// fault: "    marrive(&sh.e[s]);" => "    ;"
#include <cstdint>
#define D __device__ __forceinline__
D uint32_t u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
D void minit(void* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(u(b)), "r"(n)); }
D void marrive(void* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(u(b)) : "memory"); }
D void mexpect(void* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(u(b)), "r"(n) : "memory"); }
D bool mtry(void* b, int p) { int ok; asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(ok) : "r"(u(b)), "r"(p) : "memory"); return ok; }
D void mwait(void* b, int p) { while (!mtry(b, p)); }
D void bulk(void* d, const void* s, int n, void* b) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(u(d)), "l"(s), "r"(n), "r"(u(b)) : "memory"); }
struct Sh { alignas(128) char t[2][1024]; uint64_t f[2], e[2]; };
struct Load { const char* p; D void operator()(Sh& sh, int s) const { mexpect(&sh.f[s], 1024); bulk(sh.t[s], p, 1024, &sh.f[s]); } };
struct Sum { int& a; D void operator()(Sh& sh, int s) { for (int i = threadIdx.x; i < 1024; i += 96) a += sh.t[s][i]; } };
template <bool Producer, class F> D void run(Sh& sh, int n, F&& f) {
  for (int i = 0; i < n; ++i) {
    const int s = i & 1, p = (i >> 1) & 1;
    if constexpr (Producer) { mwait(&sh.e[s], p ^ 1); f(sh, s); }
    else { mwait(&sh.f[s], p); f(sh, s);
    marrive(&sh.e[s]);
    }
  }
}
__global__ void __launch_bounds__(128) k(const char* in, int* out, int n) {
  __shared__ Sh sh;
  if (!threadIdx.x) for (auto& b : sh.f) minit(&b, 1);
  if (!threadIdx.x) for (auto& b : sh.e) minit(&b, 96);
  __syncthreads();
  int a = 0;
  if (threadIdx.x < 96) run<false>(sh, n, Sum{a});
  else if (threadIdx.x == 96) run<true>(sh, n, Load{in});
  out[threadIdx.x] = a;
}
