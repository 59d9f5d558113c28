// fault: "~Guard() { marrive(b); }" => "~Guard() {}"
#include <cstdint>
#define D __device__ __forceinline__
D uint32_t u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
D void minit(void* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(u(b)), "r"(n)); }
D void marrive(void* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(u(b)) : "memory"); }
D void mexpect(void* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(u(b)), "r"(n) : "memory"); }
D bool mtry(void* b, int p) { int ok; asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(ok) : "r"(u(b)), "r"(p) : "memory"); return ok; }
D void mwait(void* b, int p) { while (!mtry(b, p)); }
D void bulk(void* d, const void* s, int n, void* b) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(u(d)), "l"(s), "r"(n), "r"(u(b)) : "memory"); }
struct Guard { uint64_t* b; D Guard(uint64_t* b_) : b(b_) {} D ~Guard() { marrive(b); } };
__global__ void __launch_bounds__(64) k(const int* in, int* out, int n) {
  __shared__ alignas(128) int x[64];
  __shared__ uint64_t f, e;
  if (threadIdx.x == 0) { minit(&f, 1); minit(&e, 32); }
  __syncthreads();
  if (threadIdx.x == 32) for (int i = 0; i < n; i++) { mwait(&e, ~i & 1); mexpect(&f, 256); bulk(x, in + i * 64, 256, &f); }
  else if (threadIdx.x < 32) { int a = 0; for (int i = 0; i < n; i++) { mwait(&f, i & 1); Guard g(&e); a += x[63 - threadIdx.x]; } out[threadIdx.x] = a; }
}
