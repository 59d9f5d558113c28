// fault: "b.init(4)" => "b.init(8)"
// fault: "    l.advance(2);\n" => "    l.advance(1);\n"
// fault: "buf, 0, 1}" => "buf, 0, 0}"
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
static __device__ __forceinline__ void g2s(void *dst, const void *src, u32 n, Mbar &b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" : : "r"(saddr(dst)), "l"(src), "r"(n), "r"(b.a()) : "memory");
}
}
// several blocks' worth of work per block, consumers in two groups on every other stage
namespace duo {
using namespace dev;
template <int N> struct Lane {
  Mbar *full, *empty;
  float (*buf)[512];
  int s;
  u32 p;
  __device__ void advance(int by) {
    s += by;
    if (s >= N) {
      s -= N;
      p ^= 1;
    }
  }
};
__global__ void __launch_bounds__(288) twogroups(float *out, const float *in, int n) {
  __shared__ alignas(128) float buf[4][512];
  __shared__ Mbar full[4], empty[4];
  const int g = threadIdx.x / 128;
  if (threadIdx.x == 256) {
    for (auto &b : full) b.init(1);
    for (auto &b : empty) b.init(4);
    publish_init();
  }
  __syncthreads();
  if (g == 2) {
    if (threadIdx.x == 256) {
      Lane<4> l{full, empty, buf, 0, 1};
      for (int i = 0; i < n; ++i) {
        l.empty[l.s].wait(l.p);
        l.full[l.s].arrive_tx(2048);
        g2s(l.buf[l.s], in + i * 512, 2048, l.full[l.s]);
        l.advance(1);
      }
    }
    return;
  }
  Lane<4> l{full, empty, buf, g, 0};
  float acc = 0;
  for (int i = g; i < n; i += 2) {
    l.full[l.s].wait(l.p);
    const float *b = l.buf[l.s];
    acc += b[threadIdx.x % 128] * b[511 - threadIdx.x % 128];
    __syncwarp();
    if (threadIdx.x % 32 == 0) l.empty[l.s].arrive();
    l.advance(2);
  }
  out[threadIdx.x] = acc;
}
}
