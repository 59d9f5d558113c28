// fault: "  proxy_fence();\n" => ""
// fault: "    TC(\"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];\" ::\"r\"(done.a()) : \"memory\");\n" => ""
// fault: "  done.wait(0);\n" => ""
// fault: "  TC(\"tcgen05.wait::ld.sync.aligned;\" ::: \"memory\");\n" => ""
// fault: "  if (w == 0) TC(\"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;\" ::\"r\"(tm));\n" => ""
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
static __device__ __forceinline__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" : : : "memory"); }
static __device__ __forceinline__ u64 desc(const void *p) { return (u64)((saddr(p) & 0x3ffff) >> 4) | (u64)1 << 16 | (u64)64 << 32 | (u64)1 << 62; }
}
#include <cuda_bf16.h>
// one tile by tcgen05, operands written by threads
#define TC(...) asm volatile(__VA_ARGS__)
using namespace dev;
__global__ void __launch_bounds__(128) tile1(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b) {
  __shared__ alignas(1024) __nv_bfloat16 as[128 * 16];
  __shared__ alignas(1024) __nv_bfloat16 bs[32 * 16];
  __shared__ u32 base;
  __shared__ Mbar done;
  const int w = threadIdx.x / 32;
  if (w == 0) {
    TC("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(saddr(&base)) : "memory");
    TC("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  if (threadIdx.x == 64) {
    done.init(1);
    publish_init();
  }
  for (int i = threadIdx.x; i < 128 * 16; i += 128) as[i] = a[i];
  for (int i = threadIdx.x; i < 32 * 16; i += 128) bs[i] = b[i];
  proxy_fence();
  TC("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  TC("tcgen05.fence::after_thread_sync;" ::: "memory");
  const u32 tm = base;
  if (threadIdx.x == 0) {
    TC("{\n.reg .pred p;\nsetp.ne.u32 p, 0, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(tm), "l"(desc(as)), "l"(desc(bs)), "r"(0x8080490u) : "memory");
    TC("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(done.a()) : "memory");
  }
  done.wait(0);
  TC("tcgen05.fence::after_thread_sync;" ::: "memory");
  u32 v[4];
  TC("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(tm + (w << 21)));
  TC("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  for (int i = 0; i < 4; ++i) c[threadIdx.x * 4 + i] = __uint_as_float(v[i]);
  TC("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if (w == 0) TC("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(tm));
}
