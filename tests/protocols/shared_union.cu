// fault: "    asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n" => ""
#include <cstdint>
#define D __device__ __forceinline__
D uint32_t u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
D void minit(void* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(u(b)), "r"(n)); }
D void marrive(void* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(u(b)) : "memory"); }
D void mexpect(void* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(u(b)), "r"(n) : "memory"); }
D bool mtry(void* b, int p) { int ok; asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(ok) : "r"(u(b)), "r"(p) : "memory"); return ok; }
D void mwait(void* b, int p) { while (!mtry(b, p)); }
D void bulk(void* d, const void* s, int n, void* b) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(u(d)), "l"(s), "r"(n), "r"(u(b)) : "memory"); }
union Buf { float in[256]; float4 vec[64]; };
__global__ void __launch_bounds__(64) k(const float4* in, float* out, int n) {
  __shared__ alignas(128) Buf b[2];
  for (int i = 0; i < n; i++) {
    Buf& c = b[i & 1];
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncthreads();
    c.vec[threadIdx.x] = in[i * 64 + threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) { asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + i * 256), "r"(u(c.in)), "n"(sizeof(Buf)) : "memory"); asm volatile("cp.async.bulk.commit_group;"); }
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
