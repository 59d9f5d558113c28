// fault: "    fence_proxy();\n    __syncthreads();\n    if (leader) store" => "    __syncthreads();\n    if (leader) store"
// fault: "    if (leader) wait_read0();\n    __syncthreads();" => "    __syncthreads();"
// fault: "    bar_wait(&b, i & 1);\n" => ""
// fault: "bar_wait(&b, i & 1);" => "bar_wait(&b, 0);"
#include <cstdint>
__device__ __forceinline__ uint32_t sp(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void bar_wait(uint64_t* b, uint32_t p) {
  asm volatile("{\n.reg .pred q;\nT:\nmbarrier.try_wait.parity.shared::cta.b64 q, [%0], %1;\n@q bra F;\nbra T;\nF:\n}" ::"r"(sp(b)), "r"(p) : "memory");
}
__device__ __forceinline__ void load(void* d, const void* g, uint64_t* b) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(sp(b)) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];" ::"r"(sp(d)), "l"(g), "r"(sp(b)) : "memory");
}
__device__ __forceinline__ void store(void* g, const void* s) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 2048;\n\tcp.async.bulk.commit_group;" ::"l"(g), "r"(sp(s)) : "memory");
}
__device__ __forceinline__ void wait_read0() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__global__ void __launch_bounds__(128) inplace(float* g, int n) {
  __shared__ alignas(128) float t[512];
  __shared__ uint64_t b;
  const bool leader = threadIdx.x == 0;
  if (leader) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sp(&b)));
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    if (leader) load(t, g + i * 512, &b);
    bar_wait(&b, i & 1);
    for (int j = threadIdx.x; j < 512; j += 128) t[j] += 1.f;
    fence_proxy();
    __syncthreads();
    if (leader) store(g + i * 512, t);
    if (leader) wait_read0();
    __syncthreads();
  }
}
