// fault: "    if (wg == 1) bar_arrive<256>(kWarpSched);\n" => ""
// fault: "bar_arrive<256>(kWarpSched + (wg ^ 1));" => "bar_arrive<256>(kWarpSched + wg);"
// fault: "      kv_empty[st].arrive_warp();\n" => ""
// fault: "q_full.wait(0);" => ""
// fault: "kv_full[st].arrive_expect(2 * kKV);" => "kv_full[st].arrive_expect(kKV);"
// fault: "kv_empty[st].wait(((n / kStages) & 1) ^ 1);" => "kv_empty[st].wait((n / kStages) & 1);"
// fault: "kv_empty[i].init(8);" => "kv_empty[i].init(2);"
// fault: "    bar_sync<256>(kOut);\n" => ""
// fault: "    asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n    bar_sync<256>(kOut);" => "    bar_sync<256>(kOut);"
#include <cstdint>
#include <cuda.h>
constexpr int kStages = 2, kQ = 128 * 128, kKV = 8192;
enum { kWarpSched = 1, kOut = 4 };
template <int N> __device__ void bar_sync(int id) { asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(id), "n"(N) : "memory"); }
template <int N> __device__ void bar_arrive(int id) { asm volatile("barrier.cta.arrive.aligned %0, %1;" ::"r"(id), "n"(N) : "memory"); }
struct Bar {
  uint64_t w;
  __device__ uint32_t a() const { return (uint32_t)__cvta_generic_to_shared(&w); }
  __device__ void init(uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a()), "r"(n)); }
  __device__ void arrive_expect(uint32_t n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(a()), "r"(n) : "memory"); }
  __device__ void arrive_warp() { if ((threadIdx.x & 31) == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(a()) : "memory"); }
  __device__ void wait(uint32_t p) {
    asm volatile("{\n.reg .pred p;\nL:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra D;\nbra L;\nD:\n}" ::"r"(a()), "r"(p) : "memory");
  }
};
struct Smem {
  alignas(1024) char q[kQ];
  alignas(1024) char k[kStages][kKV];
  alignas(1024) char v[kStages][kKV];
  alignas(128) float o[256 * 4];
  Bar q_full, kv_full[kStages], kv_empty[kStages];
};
__device__ void tma(void* d, const CUtensorMap& m, Bar& b, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"((uint32_t)__cvta_generic_to_shared(d)), "l"(&m), "r"(b.a()), "r"(x), "r"(y) : "memory");
}
__device__ uint64_t gmma_desc(const void* p) { return (((uint32_t)__cvta_generic_to_shared(p) & 0x3ffff) >> 4) | 64ull << 32 | 1ull << 62; }
__device__ void gmma(float (&d)[4], const void* a, const void* b) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(gmma_desc(a)), "l"(gmma_desc(b)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
__global__ void __launch_bounds__(384, 1) flash_fwd(const __grid_constant__ CUtensorMap tq, const __grid_constant__ CUtensorMap tk, const __grid_constant__ CUtensorMap tv, float* out, int n_blocks) {
  extern __shared__ __align__(1024) char raw[];
  Smem& s = *reinterpret_cast<Smem*>(raw);
  Bar& q_full = s.q_full;
  Bar* kv_full = s.kv_full;
  Bar* kv_empty = s.kv_empty;
  const int warp_group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    q_full.init(1);
    for (int i = 0; i < kStages; i++) {
      kv_full[i].init(1);
      kv_empty[i].init(8);
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (warp_group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == 0) {
      q_full.arrive_expect(kQ);
      tma(s.q, tq, q_full, 0, blockIdx.x * 128);
      for (int n = 0; n < n_blocks; ++n) {
        const int st = n % kStages;
        kv_empty[st].wait(((n / kStages) & 1) ^ 1);
        kv_full[st].arrive_expect(2 * kKV);
        tma(s.k[st], tk, kv_full[st], 0, n * 64);
        tma(s.v[st], tv, kv_full[st], 0, n * 64);
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    const int wg = warp_group - 1;
    float acc[4] = {}, p[4];
    q_full.wait(0);
    if (wg == 1) bar_arrive<256>(kWarpSched);
    for (int n = 0; n < n_blocks; ++n) {
      const int st = n % kStages;
      kv_full[st].wait((n / kStages) & 1);
      bar_sync<256>(kWarpSched + wg);
      p[0] = p[1] = p[2] = p[3] = 0;
      gmma(p, s.q + wg * (kQ / 2), s.k[st]);
      bar_arrive<256>(kWarpSched + (wg ^ 1));
      for (int i = 0; i < 4; i++) p[i] = exp2f(p[i]);
      gmma(acc, s.q + wg * (kQ / 2), s.v[st]);
      acc[0] += p[0];
      kv_empty[st].arrive_warp();
    }
    if (wg == 0) bar_sync<256>(kWarpSched);
    const int t = threadIdx.x - 128;
    for (int i = 0; i < 4; i++) s.o[t * 4 + i] = acc[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    bar_sync<256>(kOut);
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + blockIdx.x * 1024), "r"((uint32_t)__cvta_generic_to_shared(s.o)), "r"(4096) : "memory");
      asm volatile("cp.async.bulk.commit_group;");
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
  }
}
