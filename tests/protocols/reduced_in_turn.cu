// fault: "      asm volatile(\"cp.async.bulk.wait_group.read 1;\" ::: \"memory\");\n" => ""
// fault: "wait_group.read 1" => "wait_group.read 2"
// fault: "    __syncthreads();  // one buffer is free\n" => ""
// fault: "wait_group 0;\" ::: \"memory\");\n  __syncthreads();  // reduced" => "wait_group.read 0;\" ::: \"memory\");\n  __syncthreads();  // reduced"
#include <cstdint>
#include <cuda_runtime.h>
// Each block adds its rows to a table of 1024 sums with bulk reductions, two buffers in turn. The last block takes the mean.
constexpr int kN = 1024, kBytes = kN * 4;
__device__ __forceinline__ uint32_t shared_of(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__global__ void __launch_bounds__(256) bulk_reduce(const float* in, float* sums, float* mean, unsigned* done, int rows, int group) {
  __shared__ alignas(128) float part[2][kN];
  __shared__ bool last;
  int k = 0;
  for (int g = blockIdx.x * group; g < rows; g += gridDim.x * group, k ^= 1) {
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    }
    __syncthreads();  // one buffer is free
    for (int x = threadIdx.x; x < kN; x += 256) {
      float s = 0.f;
      for (int r = g; r < min(g + group, rows); ++r) s += in[(long long)r * kN + x];
      part[k][x] = s;
    }
    fence_async();
    __syncthreads();  // partial sums
    if (threadIdx.x == 0) {
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(sums), "r"(shared_of(part[k])), "n"(kBytes) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  __syncthreads();  // reduced
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.async;" ::: "memory");
    __threadfence();
    last = atomicAdd(done, 1u) == gridDim.x - 1;
    __threadfence();  // seen
  }
  __syncthreads();  // told
  if (!last) return;
  for (int x = threadIdx.x; x < kN; x += 256) mean[x] = sums[x] / rows;
  if (threadIdx.x == 0) *done = 0;
}
void go(const float* in, float* sums, float* mean, unsigned* done, int rows) {
  cudaMemsetAsync(sums, 0, kBytes);
  bulk_reduce<<<132, 256>>>(in, sums, mean, done, rows, 8);
}
