// fault: "mbar_wait(&bar, i & 1)" => "mbar_wait(&bar, 0)"
// fault: "    fence_async_smem();\n" => ""
// fault: "    }\n  }\n  if (threadIdx.x == 0) bulk_wait_read<0>();\n" => "    }\n  }\n"
#include <cstdint>
__device__ __forceinline__ uint32_t smem_u32(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void mbar_init(uint64_t *bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_expect_tx(uint64_t *bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(bar)), "r"(bytes) : "memory");
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
__device__ __forceinline__ void fence_async_smem() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void tma_load_2d(void *dst, const void *map, uint64_t *bar, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(smem_u32(dst)),
               "l"(map), "r"(smem_u32(bar)), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ void tma_store_2d(const void *map, const void *src, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(smem_u32(src)), "r"(x), "r"(y) : "memory");
}
// tile load by TMA, transposed through shared memory, stored by TMA; phases by loop parity; 3 tiles unrolled
__global__ void __launch_bounds__(256) transpose3(const void *src, const void *dst) {
  __shared__ alignas(1024) float a[32 * 32];
  __shared__ alignas(1024) float b[32 * 33 + 31];
  __shared__ alignas(1024) float o[32 * 32];
  __shared__ uint64_t bar;
  const int x = threadIdx.x % 32, y0 = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    mbar_init(&bar, 1);
    fence_mbar_init();
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 3; i++) {
    if (threadIdx.x == 0) {
      mbar_expect_tx(&bar, 4096);
      tma_load_2d(a, src, &bar, blockIdx.x * 32, i * 32);
    }
    mbar_wait(&bar, i & 1);
    for (int y = y0; y < 32; y += 8) b[x * 33 + y] = a[y * 32 + x];
    if (threadIdx.x == 0) bulk_wait_read<0>();
    __syncthreads();
    for (int y = y0; y < 32; y += 8) o[y * 32 + x] = b[y * 33 + x];
    fence_async_smem();
    __syncthreads();
    if (threadIdx.x == 0) {
      tma_store_2d(dst, o, i * 32, blockIdx.x * 32);
      bulk_commit();
    }
  }
  if (threadIdx.x == 0) bulk_wait_read<0>();
}
