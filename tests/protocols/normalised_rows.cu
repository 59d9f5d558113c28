// fault: "      bulk_wait_read<1>();\n" => ""
// fault: "bulk_wait_read<1>();" => "bulk_wait_read<2>();"
// fault: "v.w * s);\n    fence_async();\n" => "v.w * s);\n"
// fault: "    fence_async();\n    __syncthreads();\n" => "    __syncthreads();\n    if (threadIdx.x == 0) fence_async();\n"
// fault: "      bulk_commit();\n" => ""
// fault: "  if (threadIdx.x == 0) bulk_wait_read<0>();\n" => ""
// fault: "    in_wait(&arrived[b], (it >> 1) & 1);\n" => ""
// fault: "    __syncthreads();\n    // refill" => "    // refill"
// fault: "    fence_async();\n    __syncthreads();\n    if (threadIdx.x == 0) {\n      bulk_store" => "    fence_async();\n    if (threadIdx.x == 0) {\n      bulk_store"
#include <cuda_runtime.h>
#include <cstdint>
__device__ uint32_t sa(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void bulk_store(void* g, const void* s, int n) { asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(g), "r"(sa(s)), "r"(n) : "memory"); }
__device__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> __device__ void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
__device__ void in_wait(uint64_t* b, uint32_t ph) {
  while (true) {
    uint32_t r;
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(r) : "r"(sa(b)), "r"(ph) : "memory");
    if (r) break;
  }
}
__device__ void fill(void* s, const void* g, int n, uint64_t* b) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sa(b)), "r"(n) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(sa(s)), "l"(g), "r"(n), "r"(sa(b)) : "memory");
}
__global__ void __launch_bounds__(256) rows(const float* x, float* y, int n) {
  __shared__ alignas(128) float in[2][1024];
  __shared__ alignas(128) float res[2][1024];
  __shared__ float part[8];
  __shared__ uint64_t arrived[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; i++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sa(&arrived[i])));
    fence_async();
  }
  __syncthreads();
  if (threadIdx.x == 0) for (int i = 0; i < 2; i++) if (i < n) fill(in[i], x + i * 1024, 4096, &arrived[i]);
  for (int it = 0; it < n; ++it) {
    const int b = it & 1;
    in_wait(&arrived[b], (it >> 1) & 1);
    float4 v = reinterpret_cast<float4*>(in[b])[threadIdx.x];
    float q = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    for (int o = 16; o; o >>= 1) q += __shfl_xor_sync(0xffffffffu, q, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = q;
    if (threadIdx.x == 0) {
      bulk_wait_read<1>();
    }
    __syncthreads();
    // refill
    if (threadIdx.x == 0 && it + 2 < n) fill(in[b], x + (it + 2) * 1024, 4096, &arrived[b]);
    float s = 0;
    for (int w = 0; w < 8; w++) s += part[w];
    s = rsqrtf(s / 1024);
    reinterpret_cast<float4*>(res[b])[threadIdx.x] = make_float4(v.x * s, v.y * s, v.z * s, v.w * s);
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
      bulk_store(y + it * 1024, res[b], 4096);
      bulk_commit();
    }
  }
  if (threadIdx.x == 0) bulk_wait_read<0>();
}
