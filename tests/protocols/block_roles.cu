// fault: "    full(&landed, round & 1);" => "    if (threadIdx.x < 32) full(&landed, round & 1);"
// fault: "    round++;\n" => ""
// fault: "    __syncthreads(); // tile is read\n" => ""
#include <cstdint>
constexpr int kTile = 1024;
__device__ uint32_t in_shared(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ int flag_at(const int* at) {
  int v;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
  return v;
}
__device__ void full(uint64_t* bar, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN_%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN_%=;\n}" ::"r"(in_shared(bar)), "r"(parity) : "memory");
}
__global__ void __launch_bounds__(128) exchange(const float* x, float* tiles, int* ready, float* y, int count, int writers) {
  __shared__ alignas(128) float tile[kTile];
  __shared__ uint64_t landed;
  if ((int)blockIdx.x < writers) {
    for (int t = blockIdx.x; t < count; t += writers) {
      for (int i = threadIdx.x; i < kTile; i += 128) tiles[(size_t)t * kTile + i] = x[(size_t)t * kTile + i];
      asm volatile("fence.proxy.async;" ::: "memory");
      __syncthreads();
      if (threadIdx.x == 0) asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(ready + t) : "memory");
    }
    return;
  }
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(in_shared(&landed)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  int round = 0;
  for (int t = blockIdx.x - writers; t < count; t += gridDim.x - writers) {
    if (threadIdx.x == 0) {
      while (flag_at(ready + t) == 0) {}
      asm volatile("fence.proxy.async;" ::: "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(in_shared(&landed)), "r"(kTile * 4) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(in_shared(tile)), "l"(tiles + (size_t)t * kTile), "r"(kTile * 4), "r"(in_shared(&landed)) : "memory");
    }
    full(&landed, round & 1);
    round++;
    for (int i = threadIdx.x; i < kTile; i += 128) y[(size_t)t * kTile + i] = tile[kTile - 1 - i];
    __syncthreads(); // tile is read
  }
}
