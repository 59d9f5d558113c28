// fault: "minit(&f, Count<2>::value);" => "minit(&f, Count<1>::value);"
#include <cstdint>
#define D __device__ __forceinline__
D uint32_t u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
D void minit(void* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(u(b)), "r"(n)); }
D void marrive(void* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(u(b)) : "memory"); }
D void mexpect(void* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(u(b)), "r"(n) : "memory"); }
D bool mtry(void* b, int p) { int ok; asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(ok) : "r"(u(b)), "r"(p) : "memory"); return ok; }
D void mwait(void* b, int p) { while (!mtry(b, p)); }
D void bulk(void* d, const void* s, int n, void* b) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(u(d)), "l"(s), "r"(n), "r"(u(b)) : "memory"); }
template <int N> struct Count { static constexpr int value = 64; };
template <> struct Count<1> { static constexpr int value = 1; };
__global__ void __launch_bounds__(64) k(const int* in, int* out, int n) {
  __shared__ int x[64];
  __shared__ uint64_t f;
  if (threadIdx.x == 0) {
    minit(&f, Count<2>::value);
  }
  __syncthreads();
  for (int i = 0; i < n; i++) { x[threadIdx.x] = in[i]; marrive(&f); mwait(&f, (2 * i) & 1); out[i * 64 + threadIdx.x] = x[63 - threadIdx.x]; marrive(&f); mwait(&f, (2 * i + 1) & 1); }
}
