// fault: "mbar_expect_tx(&st.full[c.slot], 8192)" => "mbar_expect_tx(&st.full[c.slot], 4096)"
#include <cstdint>
__device__ __forceinline__ uint32_t smem_u32(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void mbar_init(uint64_t *bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_expect_tx(uint64_t *bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(bar)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t *bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_u32(bar)) : "memory");
}
__device__ __forceinline__ bool mbar_try_wait(uint64_t *bar, uint32_t parity) {
  uint32_t ok;
  asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
               : "=r"(ok) : "r"(smem_u32(bar)), "r"(parity) : "memory");
  return ok;
}
__device__ __forceinline__ void mbar_wait(uint64_t *bar, uint32_t parity) {
  while (!mbar_try_wait(bar, parity)) {}
}
__device__ __forceinline__ void fence_mbar_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void tma_load_2d(void *dst, const void *map, uint64_t *bar, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(smem_u32(dst)),
               "l"(map), "r"(smem_u32(bar)), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ bool elect_one() {
  uint32_t ok;
  asm volatile("{\n\t.reg .pred p;\n\telect.sync _|p, 0xFFFFFFFF;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(ok));
  return ok;
}
// a state of stage and phase, one arrival for each warp of the consumers
struct Cursor {
  int slot = 0;
  uint32_t bit = 0;
  __device__ void next(int n) {
    slot++;
    if (slot == n) {
      slot = 0;
      bit ^= 1;
    }
  }
};
template <int N> struct Storage {
  alignas(1024) uint8_t tile[N][8192];
  uint64_t full[N];
  uint64_t empty[N];
};
__global__ void __launch_bounds__(288) reduce_tiles(const __grid_constant__ uint64_t dummy, const void *map, float *out, int count) {
  constexpr int N = 4;
  extern __shared__ uint8_t raw[];
  auto &st = *reinterpret_cast<Storage<N> *>(raw);
  int warp = threadIdx.x >> 5;
  int lane = threadIdx.x & 31;
  if (warp == 0 && lane == 0) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      mbar_init(&st.full[i], 1);
      mbar_init(&st.empty[i], 8);
    }
    fence_mbar_init();
  }
  __syncthreads();
  if (warp == 8) {
    if (elect_one()) {
      Cursor c;
      c.bit = 1;
      for (int t = 0; t < count; ++t) {
        mbar_wait(&st.empty[c.slot], c.bit);
        mbar_expect_tx(&st.full[c.slot], 8192);
        tma_load_2d(st.tile[c.slot], map, &st.full[c.slot], 0, t * 64);
        c.next(N);
      }
    }
  } else {
    Cursor c;
    float sum = 0.f;
    for (int t = 0; t < count; ++t) {
      mbar_wait(&st.full[c.slot], c.bit);
      const float *p = reinterpret_cast<const float *>(st.tile[c.slot]);
      for (int i = threadIdx.x; i < 2048; i += 256) sum += p[i];
      __syncwarp();
      if (lane == 0) mbar_arrive(&st.empty[c.slot]);
      c.next(N);
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
  }
}
