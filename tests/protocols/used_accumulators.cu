// fault: "  asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n" => ""
// What a product gives is used by what is computed of it, which itself is not followed.
#include <cuda_fp16.h>
#include <cstdint>

__device__ inline uint64_t described(const void* at) {
  return ((uint64_t)((uint32_t)__cvta_generic_to_shared(at) & 0x3FFFF) >> 4) | (8ull << 16) | (8ull << 32);
}

__global__ void __launch_bounds__(128) product(const uint4* a, const uint4* b, __half2* out, float scale) {
  __shared__ alignas(128) uint4 left[128];
  __shared__ alignas(128) uint4 right[16];
  left[threadIdx.x] = a[threadIdx.x];
  if (threadIdx.x < 16) right[threadIdx.x] = b[threadIdx.x];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float sums[4] = {0.f, 0.f, 0.f, 0.f};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "l"(described(left)), "l"(described(right)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  out[threadIdx.x * 2] = __floats2half2_rn(sums[0] * scale, sums[1] * scale);
  out[threadIdx.x * 2 + 1] = __floats2half2_rn(sums[2] * scale, sums[3] * scale);
}
