// fault: "ld.global.acquire.gpu.b32" => "ld.global.b32"
// fault: "ld.global.acquire.gpu.b32" => "ld.global.relaxed.gpu.b32"
// fault: "  __syncthreads();\n  if (threadIdx.x == 0) release" => "  if (threadIdx.x == 0) release"
// fault: "red.release.gpu.global.add.s32" => "red.relaxed.gpu.global.add.s32"
// fault: "red.release.gpu.global.add.s32" => "red.release.cta.global.add.s32"
// fault: "  fetch(lock, k);\n  __syncthreads();\n" => "  fetch(lock, k);\n"
#include <cstdint>
// Parts of a sum are added in order, as a serial split along K does.
__device__ __forceinline__ int fetch(int* lock, int status) {
  int state = -1;
  if (threadIdx.x == 0) {
    do {
      asm volatile("ld.global.acquire.gpu.b32 %0, [%1];\n" : "=r"(state) : "l"(lock) : "memory");
    } while (state != status);
  }
  return state;
}
__device__ __forceinline__ void release(int* lock) {
  asm volatile("red.release.gpu.global.add.s32 [%0], 1;\n" ::"l"(lock) : "memory");
}
__global__ void __launch_bounds__(256) split_k(const float* part, float* sum, int* locks) {
  int* lock = locks + blockIdx.x;
  const int k = blockIdx.y;
  float v = part[(k * gridDim.x + blockIdx.x) * 256 + threadIdx.x];
  fetch(lock, k);
  __syncthreads();
  float* s = sum + blockIdx.x * 256 + threadIdx.x;
  *s = k ? *s + v : v;
  __syncthreads();
  if (threadIdx.x == 0) release(lock);
}
