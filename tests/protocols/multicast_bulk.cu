// fault: "bar_init(full + 8 * i, 1);" => "bar_init(full + 8 * i, 2);"
// fault: "bar_init(empty + 8 * i, 2 * 4);" => "bar_init(empty + 8 * i, 2);"
// fault: "bar_expect(full + 8 * s, 2 * kPart);" => "bar_expect(full + 8 * s, kPart);"
// fault: "      if (lane < 2) bar_arrive_at(empty + 8 * s, lane);\n" => "      if (lane == 0) bar_arrive_at(empty + 8 * s, rank);\n"
// fault: "      bar_wait(full + 8 * s, ph);\n" => ""
// fault: "  cluster_sync();\n  int x" => "  __syncthreads();\n  int x"
// fault: "  cluster_sync();\n  out" => "  out"
#include <cstdint>
__device__ __forceinline__ void bar_init(uint32_t b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(n)); }
__device__ __forceinline__ void bar_expect(uint32_t b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(n) : "memory"); }
__device__ __forceinline__ void bar_wait(uint32_t b, int p) {
  asm volatile("{\n.reg .pred d;\nW:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 d, [%0], %1;\n@!d bra W;\n}" ::"r"(b), "r"(p) : "memory");
}
__device__ __forceinline__ void bar_arrive_at(uint32_t b, uint32_t cta) {
  asm volatile("{\n.reg .b32 r;\nmapa.shared::cluster.u32 r, %0, %1;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [r];\n}" ::"r"(b), "r"(cta) : "memory");
}
__device__ __forceinline__ void cluster_sync() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }
constexpr int kPart = 2048, kDepth = 3;
// Each block brings one half of each tile to both.
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(160) shared_tiles(const char* g, int* out, int n) {
  extern __shared__ __align__(128) char sm[];
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(sm), full = base + kDepth * 2 * kPart, empty = full + 8 * kDepth;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const int lane = threadIdx.x & 31;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kDepth; i++) {
      bar_init(full + 8 * i, 1);
      bar_init(empty + 8 * i, 2 * 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster_sync();
  int x = 0;
  if (threadIdx.x < 32) {
    if (lane == 0) for (int k = 0, s = 0, ph = 1; k < n; k++) {
      bar_wait(empty + 8 * s, ph);
      bar_expect(full + 8 * s, 2 * kPart);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(base + s * 2 * kPart + rank * kPart), "l"(g + k * 2 * kPart + rank * kPart), "r"(kPart), "r"(full + 8 * s), "h"((uint16_t)3) : "memory");
      if (++s == kDepth) s = 0, ph ^= 1;
    }
  } else {
    for (int k = 0, s = 0, ph = 0; k < n; k++) {
      bar_wait(full + 8 * s, ph);
      const int* t = (const int*)(sm + s * 2 * kPart);
      for (int i = threadIdx.x - 32; i < kPart / 2; i += 128) x += t[i];
      __syncwarp();
      if (lane < 2) bar_arrive_at(empty + 8 * s, lane);
      if (++s == kDepth) s = 0, ph ^= 1;
    }
  }
  cluster_sync();
  out[blockIdx.x * 160 + threadIdx.x] = x;
}
