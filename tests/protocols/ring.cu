// fault: "mbar_init(&empty[i], 4)" => "mbar_init(&empty[i], 3)"
// fault: "mbar_init(&empty[i], 4)" => "mbar_init(&empty[i], 5)"
// fault: "mbar_init(&full[i], 1)" => "mbar_init(&full[i], 2)"
// fault: "uint32_t phase = 0;" => "uint32_t phase = 1;"
// fault: "uint32_t phase = 1;" => "uint32_t phase = 0;"
// fault: "mbar_expect_tx(&full[stage], TILE * sizeof(float))" => "mbar_expect_tx(&full[stage], TILE)"
// fault: "mbar_expect_tx(&full[stage], TILE * sizeof(float));" => ""
// fault: "  __syncthreads();\n  if (warp" => "  if (warp"
// fault: "        mbar_wait(&empty[stage], phase);\n" => ""
// fault: "      mbar_wait(&full[stage], phase);\n" => ""
// fault: "      if (lane == 0) mbar_arrive(&empty[stage]);\n" => ""
// fault: "if (lane == 0) mbar_arrive(&empty[stage]);" => "mbar_arrive(&empty[stage]);"
// fault: "if (++stage == STAGES) { stage = 0; phase ^= 1; }\n      }" => "if (++stage == STAGES) stage = 0;\n      }"

#include <cstdint>
#include <cuda.h>

namespace {
constexpr int STAGES = 3;
constexpr int TILE = 256;

__device__ __forceinline__ uint32_t smem_u32(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void mbar_init(uint64_t* bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_expect_tx(uint64_t* bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(bar)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t* bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_u32(bar)) : "memory");
}
__device__ __forceinline__ bool mbar_try_wait(uint64_t* bar, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(done)
      : "r"(smem_u32(bar)), "r"(parity)
      : "memory");
  return done;
}
__device__ __forceinline__ void mbar_wait(uint64_t* bar, uint32_t parity) {
  while (!mbar_try_wait(bar, parity)) {
  }
}
__device__ __forceinline__ void bulk_load(void* dst, const void* src, uint32_t bytes, uint64_t* bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem_u32(dst)),
      "l"(src), "r"(bytes), "r"(smem_u32(bar))
      : "memory");
}
__device__ __forceinline__ void tma_load(void* dst, const CUtensorMap* map, int x, int y, uint64_t* bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          smem_u32(dst)),
      "l"(map), "r"(smem_u32(bar)), "r"(x), "r"(y)
      : "memory");
}
}  // namespace

// A ring of stages: one thread copies, four warps read.
__global__ void __launch_bounds__(160) ring(const float* in, float* out, int tiles) {
  __shared__ alignas(128) float buffer[STAGES][TILE];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      mbar_init(&full[i], 1);
      mbar_init(&empty[i], 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (warp == 4) {
    if (lane == 0) {
      int stage = 0;
      uint32_t phase = 1;
      for (int t = 0; t < tiles; ++t) {
        mbar_wait(&empty[stage], phase);
        mbar_expect_tx(&full[stage], TILE * sizeof(float));
        bulk_load(&buffer[stage][0], in + t * TILE, TILE * sizeof(float), &full[stage]);
        if (++stage == STAGES) { stage = 0; phase ^= 1; }
      }
    }
  } else {
    float sum = 0.f;
    int stage = 0;
    uint32_t phase = 0;
    for (int t = 0; t < tiles; ++t) {
      mbar_wait(&full[stage], phase);
      for (int i = threadIdx.x; i < TILE; i += 128) sum += buffer[stage][i];
      __syncwarp();
      if (lane == 0) mbar_arrive(&empty[stage]);
      if (++stage == STAGES) { stage = 0; phase ^= 1; }
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
  }
}
