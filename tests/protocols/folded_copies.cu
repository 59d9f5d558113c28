// fault: "mexpect(&f, (N + ... + 0) * 16);" => "mexpect(&f, (N + ... + 0) * 8);"
#include <cstdint>
#define D __device__ __forceinline__
D uint32_t u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
D void minit(void* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(u(b)), "r"(n)); }
D void marrive(void* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(u(b)) : "memory"); }
D void mexpect(void* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(u(b)), "r"(n) : "memory"); }
D bool mtry(void* b, int p) { int ok; asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(ok) : "r"(u(b)), "r"(p) : "memory"); return ok; }
D void mwait(void* b, int p) { while (!mtry(b, p)); }
D void bulk(void* d, const void* s, int n, void* b) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(u(d)), "l"(s), "r"(n), "r"(u(b)) : "memory"); }
template <int... N> D void load(char* t, const char* s, uint64_t& f) {
  mexpect(&f, (N + ... + 0) * 16);
  int at = 0;
  ((bulk(t + at, s + at, N * 16, &f), at += N * 16), ...);
}
__global__ void __launch_bounds__(64) k(const char* in, char* out) {
  __shared__ alignas(128) char t[1024];
  __shared__ uint64_t f;
  if (threadIdx.x == 0) { minit(&f, 1); load<8, 16, 8>(t, in, f); }
  __syncthreads();
  mwait(&f, 0);
  for (int i = threadIdx.x; i < 512; i += 64) out[i] = t[511 - i];
}
