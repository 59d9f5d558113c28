// fault: "State write = {0, 1};" => "State write = {0, 0};"
// fault: "State read = {0, 0};" => "State read = {0, 1};"
// fault: "      advance(write);\n" => "      write.index ^= 1;\n"
// fault: "    advance(read);\n" => "    read.index ^= 1;\n"
// fault: "mbar_arrive(&bars.empty[read.index]);\n    advance" => "advance"
// fault: "mbar_init(&bars.full[i], 1)" => "mbar_init(&bars.full[i], 32)"

#include <cstdint>
#include <cuda.h>

namespace {
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

namespace {
struct State {
  int index;
  uint32_t phase;
};
struct Bars {
  uint64_t full[2];
  uint64_t empty[2];
};
__device__ __forceinline__ void advance(State& state) {
  state.index ^= 1;
  if (state.index == 0) state.phase ^= 1;
}
}  // namespace

// The state of a pipeline in a structure, its barriers in another one.
template <typename T, int N>
__global__ void staged(const T* in, T* out, int n) {
  __shared__ alignas(16) T tile[2][N];
  __shared__ Bars bars;
  const bool leader = threadIdx.x == 0;
  if (leader) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      mbar_init(&bars.full[i], 1);
      mbar_init(&bars.empty[i], 64);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 64) {
    if (threadIdx.x != 64) return;
    State write = {0, 1};
    for (int i = 0; i < n; i++) {
      mbar_wait(&bars.empty[write.index], write.phase);
      mbar_expect_tx(&bars.full[write.index], sizeof(T) * N);
      bulk_load(tile[write.index], in + i * N, sizeof(T) * N, &bars.full[write.index]);
      advance(write);
    }
    return;
  }
  State read = {0, 0};
  T total = 0;
  for (int i = 0; i < n; i++) {
    mbar_wait(&bars.full[read.index], read.phase);
    total += tile[read.index][threadIdx.x];
    mbar_arrive(&bars.empty[read.index]);
    advance(read);
  }
  out[threadIdx.x] = total;
}

void run(const int* in, int* out, int n) { staged<int, 64><<<8, 96>>>(in, out, n); }
