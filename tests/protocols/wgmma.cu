// fault: "    warpgroup_wait<0>();\n" => ""
// fault: "    warpgroup_fence();\n" => ""
// fault: "    warpgroup_commit();\n" => ""
// fault: "    mbar_wait(&full[stage], phase);\n" => ""
// fault: "mbar_init(&empty[i], 128)" => "mbar_init(&empty[i], 64)"

#include <cstdint>
#include <cuda.h>

namespace {
constexpr int STAGES = 2;
constexpr int BYTES = 64 * 64 * 2;

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

__device__ __forceinline__ void warpgroup_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void warpgroup_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ uint64_t descriptor(const void* tile) {
  uint64_t address = smem_u32(tile);
  return ((address & 0x3FFFF) >> 4) | (uint64_t(1) << 16) | (uint64_t(64) << 32) | (uint64_t(1) << 62);
}
__device__ __forceinline__ void wgmma(float (&d)[8], uint64_t a, uint64_t b) {
  asm volatile(
      "{\n"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, 0, 0;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
      : "l"(a), "l"(b));
}

struct Tiles {
  alignas(1024) unsigned char a[STAGES][BYTES];
  alignas(1024) unsigned char b[STAGES][BYTES];
  uint64_t full[STAGES];
  uint64_t empty[STAGES];
};

// One warp copies tiles, a warp group multiplies them.
__global__ void __launch_bounds__(160) gemm(const __grid_constant__ CUtensorMap map_a,
                                            const __grid_constant__ CUtensorMap map_b, float* out, int k) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Tiles& s = *reinterpret_cast<Tiles*>(raw);
  uint64_t* full = s.full;
  uint64_t* empty = s.empty;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      mbar_init(&full[i], 1);
      mbar_init(&empty[i], 128);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128) {
      for (int t = 0; t < k; ++t) {
        const int stage = t % STAGES;
        mbar_wait(&empty[stage], ((t / STAGES) & 1) ^ 1);
        mbar_expect_tx(&full[stage], 2 * BYTES);
        tma_load(s.a[stage], &map_a, t * 64, blockIdx.x * 64, &full[stage]);
        tma_load(s.b[stage], &map_b, t * 64, blockIdx.y * 64, &full[stage]);
      }
    }
    return;
  }
  float d[8];
  for (int i = 0; i < 8; ++i) d[i] = 0.f;
  for (int t = 0; t < k; ++t) {
    const int stage = t % STAGES;
    const uint32_t phase = (t / STAGES) & 1;
    mbar_wait(&full[stage], phase);
    warpgroup_fence();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      wgmma(d, descriptor(s.a[stage] + i * 32), descriptor(s.b[stage] + i * 32));
    }
    warpgroup_commit();
    warpgroup_wait<0>();
    mbar_arrive(&empty[stage]);
  }
  for (int i = 0; i < 8; ++i) out[threadIdx.x * 8 + i] = d[i];
}
