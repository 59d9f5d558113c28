// fault: "ph[s] ^= 1;" => ";"
#include <cstdint>
#define D __device__ __forceinline__
D uint32_t u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
D void minit(void* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(u(b)), "r"(n)); }
D void marrive(void* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(u(b)) : "memory"); }
D void mexpect(void* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(u(b)), "r"(n) : "memory"); }
D bool mtry(void* b, int p) { int ok; asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(ok) : "r"(u(b)), "r"(p) : "memory"); return ok; }
D void mwait(void* b, int p) { while (!mtry(b, p)); }
D void bulk(void* d, const void* s, int n, void* b) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(u(d)), "l"(s), "r"(n), "r"(u(b)) : "memory"); }
__global__ void __launch_bounds__(64) k(const int* in, int* out, int n) {
  __shared__ alignas(128) int x[4][64];
  __shared__ uint64_t bar[4];
  if (threadIdx.x == 0) for (int i = 0; i < 4; i++) minit(&bar[i], 1);
  __syncthreads();
  int ph[4] = {0, 0, 0, 0};
  int a = 0;
  if (threadIdx.x == 0) for (int i = 0; i < 3 && i < n; i++) { mexpect(&bar[i], 256); bulk(x[i], in + i * 64, 256, &bar[i]); }
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    const int s = i & 3;
    if (threadIdx.x == 0 && i + 3 < n) { const int q = (i + 3) & 3; mexpect(&bar[q], 256); bulk(x[q], in + (i + 3) * 64, 256, &bar[q]); }
    mwait(&bar[s], ph[s]);
    ph[s] ^= 1;
    a += x[s][63 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = a;
}
