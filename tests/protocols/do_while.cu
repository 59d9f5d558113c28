// fault: "  mwait(&full[s], ph);" => "  ;"
#include <cstdint>
#define D __device__ __forceinline__
D uint32_t u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
D void minit(void* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(u(b)), "r"(n)); }
D void marrive(void* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(u(b)) : "memory"); }
D void mexpect(void* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(u(b)), "r"(n) : "memory"); }
D bool mtry(void* b, int p) { int ok; asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(ok) : "r"(u(b)), "r"(p) : "memory"); return ok; }
D void mwait(void* b, int p) { while (!mtry(b, p)); }
D void bulk(void* d, const void* s, int n, void* b) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(u(d)), "l"(s), "r"(n), "r"(u(b)) : "memory"); }
__global__ void __launch_bounds__(64) k(const float* in, float* out, int n) {
  __shared__ alignas(128) float x[3][64];
  __shared__ uint64_t full[3], empty[3];
  if (threadIdx.x == 0) { int i = 0; do { minit(full + i, 1); minit(empty + i, 32); } while (++i < 3); }
  __syncthreads();
  unsigned s = 0, ph = 0;
  float a = 0;
  if (threadIdx.x >= 32) {
    if (threadIdx.x == 32 && n > 0) { int i = 0; do {
      mwait(&empty[s], ph ^ 1);
      mexpect(&full[s], 256);
      bulk(x[s], in + i * 64, 256, &full[s]);
      s = s == 2 ? 0 : s + 1; ph ^= (s == 0);
    } while (++i < n); }
  } else {
    for (int left = n; left-- > 0;) {
  mwait(&full[s], ph);
      a += x[s][63 - threadIdx.x];
      marrive(&empty[s]);
      s = s == 2 ? 0 : s + 1; ph ^= (s == 0);
    }
    out[threadIdx.x] = a;
  }
}
