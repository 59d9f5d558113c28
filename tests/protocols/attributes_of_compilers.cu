// fault: "    __syncthreads();  // all have written\n" => ""
// fault: "      asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\");\n" => ""
// fault: "    asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n" => ""
// Alignments as host compilers write them, and numbers that are read of a texture.
#include <cuda_runtime.h>
#include <cstdint>

struct __attribute__((aligned(128))) Row { float at[128]; };

__global__ void __launch_bounds__(128) scaled(cudaTextureObject_t texture, float* out, int n) {
  __shared__ float __attribute((aligned(16))) first[4];
  __shared__ Row row;
  if (threadIdx.x < 4) first[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    row.at[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, i + 0.5f) * first[threadIdx.x & 3];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();  // all have written
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;"
                   ::"l"(out + i * 128), "r"((uint32_t)__cvta_generic_to_shared(&row)) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
}
