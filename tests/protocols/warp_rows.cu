// fault: "  __syncwarp();\n" => ""
// fault: "  fence_async_smem();\n" => ""
#include <cstdint>
__device__ __forceinline__ uint32_t smem_u32(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void fence_async_smem() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void bulk_store(void *dst, const void *src, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst), "r"(smem_u32(src)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
// warps write lanes' values, lane 0 stores the warp's row in bulk
__global__ void __launch_bounds__(128) warp_rows(float *out, const float *in) {
  __shared__ alignas(128) float rows[4][128];
  const int w = threadIdx.x / 32, l = threadIdx.x % 32;
  for (int i = l; i < 128; i += 32) rows[w][i] = in[(blockIdx.x * 4 + w) * 128 + i] * 3.f;
  fence_async_smem();
  __syncwarp();
  if (l == 0) {
    bulk_store(out + (blockIdx.x * 4 + w) * 128, rows[w], 512);
    bulk_commit();
    bulk_wait_read<0>();
  }
}
