// fault: "      proxy_fence_global();\n" => ""
// fault: "      proxy_fence_global();\n" => "      proxy_fence();\n"
// fault: "in[c * 1024 + i] * 0.1f;\n      __syncthreads();\n" => "in[c * 1024 + i] * 0.1f;\n"
// fault: "    out[c * 128 + threadIdx.x] = box[threadIdx.x] + box[1023 - threadIdx.x];\n    __syncthreads();\n" => "    out[c * 128 + threadIdx.x] = box[threadIdx.x] + box[1023 - threadIdx.x];\n"
#include <cstdint>
namespace dev {
using u32 = uint32_t;
using u64 = uint64_t;
static __device__ __forceinline__ u32 saddr(const void *p) { return (u32)__cvta_generic_to_shared(p); }
struct Mbar {
  u64 word;
  __device__ __forceinline__ u32 a() { return saddr(&word); }
  __device__ __forceinline__ void init(u32 n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(a()), "r"(n) : "memory"); }
  __device__ __forceinline__ void inval() { asm volatile("mbarrier.inval.shared::cta.b64 [%0];" : : "r"(a()) : "memory"); }
  __device__ __forceinline__ void arrive() { asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" : : "r"(a()) : "memory"); }
  __device__ __forceinline__ void arrive_tx(u32 n) { asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" : : "r"(a()), "r"(n) : "memory"); }
  __device__ __forceinline__ void tx(u32 n) { asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" : : "r"(a()), "r"(n) : "memory"); }
  __device__ __forceinline__ void arrive_at(u32 cta) {
    asm volatile("{\n .reg .b32 r;\n mapa.shared::cluster.u32 r, %0, %1;\n mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r];\n}" : : "r"(a()), "r"(cta) : "memory");
  }
  __device__ __forceinline__ bool ready(u32 par) {
    u32 ok;
    asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n selp.b32 %0, 1, 0, p;\n}" : "=r"(ok) : "r"(a()), "r"(par) : "memory");
    return ok != 0;
  }
  __device__ __forceinline__ void wait(u32 par) { while (!ready(par)); }
  __device__ __forceinline__ void wait_cluster(u32 par) {
    u32 ok = 0;
    do {
      asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n selp.b32 %0, 1, 0, p;\n}" : "=r"(ok) : "r"(a()), "r"(par) : "memory");
    } while (!ok);
  }
};
static __device__ __forceinline__ void publish_init() { asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory"); }
static __device__ __forceinline__ void proxy_fence_global() { asm volatile("fence.proxy.async.global;" : : : "memory"); }
static __device__ __forceinline__ void g2s(void *dst, const void *src, u32 n, Mbar &b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" : : "r"(saddr(dst)), "l"(src), "r"(n), "r"(b.a()) : "memory");
}
}
// a chunk that another block has written, polled for and brought by a bulk copy
using namespace dev;
static __device__ __forceinline__ u32 poll(const u32 *p) { u32 v; asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
static __device__ __forceinline__ void post(u32 *p, u32 v) { asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
__global__ void __launch_bounds__(128) relay(float *chunks, u32 *flags, const float *in, float *out, int n) {
  __shared__ alignas(16) float box[1024];
  __shared__ Mbar here;
  const bool writes = blockIdx.x % 2 == 0;
  if (writes) {
    for (int c = 0; c < n; ++c) {
      for (int i = threadIdx.x; i < 1024; i += 128) chunks[c * 1024 + i] = in[c * 1024 + i] * 0.1f;
      __syncthreads();
      if (threadIdx.x == 0) post(flags + c, 1);
    }
    return;
  }
  if (threadIdx.x == 0) {
    here.init(1);
    publish_init();
  }
  __syncthreads();
  for (int c = 0; c < n; ++c) {
    if (threadIdx.x == 0) {
      while (poll(flags + c) != 1) {}
      proxy_fence_global();
      here.arrive_tx(4096);
      g2s(box, chunks + c * 1024, 4096, here);
    }
    here.wait(c & 1);
    out[c * 128 + threadIdx.x] = box[threadIdx.x] + box[1023 - threadIdx.x];
    __syncthreads();
  }
}
