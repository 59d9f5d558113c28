// fault: "mbar_init(&empty[i], 2 * 4);" => "mbar_init(&empty[i], 2 * 128);"
// fault: "remote_arrive(&empty[s], 0), remote_arrive(&empty[s], 1);" => "remote_arrive(&empty[s], 0);"
// fault: "  cluster_arrive();\n  cluster_wait();\n  if (warp == 4)" => "  __syncthreads();\n  if (warp == 4)"
// fault: "mbar_expect(&full[s], BYTES);" => "mbar_expect(&full[s], BYTES / 2);"
// fault: "  cluster_arrive();\n  cluster_wait();\n}" => "}"
// fault: "        mbar_wait(&empty[s], ph ^ 1);\n" => ""
#include <cstdint>
constexpr int S = 2, BYTES = 4096;
__device__ __forceinline__ uint32_t sp(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void mbar_init(uint64_t* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sp(b)), "r"(n)); }
__device__ __forceinline__ void mbar_expect(uint64_t* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sp(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void mbar_wait(uint64_t* b, int p) {
  asm volatile("{\n.reg .pred P;\nLL:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P, [%0], %1;\n@!P bra LL;\n}" ::"r"(sp(b)), "r"(p) : "memory");
}
__device__ __forceinline__ void remote_arrive(uint64_t* b, uint32_t cta) {
  asm volatile("{\n.reg .b32 remAddr32;\nmapa.shared::cluster.u32 remAddr32, %0, %1;\nmbarrier.arrive.shared::cluster.b64 _, [remAddr32];\n}" ::"r"(sp(b)), "r"(cta) : "memory");
}
__device__ __forceinline__ void mcast(void* d, const void* g, int n, uint64_t* b, uint16_t m) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(sp(d)), "l"(g), "r"(n), "r"(sp(b)), "h"(m) : "memory");
}
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__global__ void __cluster_dims__(2) __launch_bounds__(160) shared_b(const char* g, int* o, int n) {
  __shared__ alignas(128) char buf[S][BYTES];
  __shared__ uint64_t full[S], empty[S];
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < S; ++i) {
      mbar_init(&full[i], 1);
      mbar_init(&empty[i], 2 * 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster_arrive();
  cluster_wait();
  if (warp == 4) {
    if (lane == 0) {
      int s = 0, ph = 0;
      for (int i = 0; i < n; ++i) {
        mbar_wait(&empty[s], ph ^ 1);
        mbar_expect(&full[s], BYTES);
        mcast(buf[s] + rank * (BYTES / 2), g + (size_t)i * BYTES + rank * (BYTES / 2), BYTES / 2, &full[s], 3);
        if (++s == S) { s = 0; ph ^= 1; }
      }
    }
  } else {
    int s = 0, ph = 0, acc = 0;
    for (int i = 0; i < n; ++i) {
      mbar_wait(&full[s], ph);
      acc += buf[s][threadIdx.x * 32];
      __syncwarp();
      if (lane == 0) { remote_arrive(&empty[s], 0), remote_arrive(&empty[s], 1); }
      if (++s == S) { s = 0; ph ^= 1; }
    }
    o[blockIdx.x * 128 + threadIdx.x] = acc;
  }
  cluster_arrive();
  cluster_wait();
}
