// fault: "auto [s, p] = split(i);\n      mwait(&full[s], p);" => "auto [s, p] = split(i + 1);\n      mwait(&full[s], p);"
#include <cstdint>
#define D __device__ __forceinline__
D uint32_t u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
D void minit(void* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(u(b)), "r"(n)); }
D void marrive(void* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(u(b)) : "memory"); }
D void mexpect(void* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(u(b)), "r"(n) : "memory"); }
D bool mtry(void* b, int p) { int ok; asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(ok) : "r"(u(b)), "r"(p) : "memory"); return ok; }
D void mwait(void* b, int p) { while (!mtry(b, p)); }
D void bulk(void* d, const void* s, int n, void* b) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(u(d)), "l"(s), "r"(n), "r"(u(b)) : "memory"); }
struct SP { int s, p; };
D constexpr SP split(int i) { return {i % 3, i / 3 & 1}; }
D auto lane() { return threadIdx.x % 32u; }
__global__ void __launch_bounds__(64) k(const int* in, int* out, int n) {
  __shared__ alignas(128) int x[3][64];
  __shared__ uint64_t full[3], empty[3];
  if (threadIdx.x < 3) { minit(&full[threadIdx.x], 1); minit(&empty[threadIdx.x], 1); }
  __syncthreads();
  if (threadIdx.x >= 32) {
    int a = 0;
    for (int i = 0; i < n; ++i) {
      auto [s, p] = split(i);
      mwait(&full[s], p);
      a += x[s][lane()] + x[s][lane() + 32];
      __syncwarp();
      if (lane() == 0) marrive(&empty[s]);
    }
    out[lane()] = a;
  } else if (lane() == 0) {
    for (int i = 0; i < n; ++i) { const SP st = split(i); mwait(empty + st.s, !st.p); mexpect(full + st.s, 256); bulk(x + st.s, in + 64 * i, 256, full + st.s); }
  }
}
