// fault: "while (ld_acquire(&ready[b - 1]) == 0)" => "while (ready[b - 1] == 0)"
// fault: "  __syncthreads();\n  if (threadIdx.x == 0) {\n    st_release" => "  if (threadIdx.x == 0) {\n    st_release"
// fault: "    st_release(&ready[b], 1);" => "    ready[b] = 1;"
#include <cstdint>
__device__ __forceinline__ int ld_acquire(const int *p) { int v; asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ __forceinline__ void st_release(int *p, int v) { asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
// blocks one after the other by flags in global memory
__global__ void chain_scan(float *data, int *ready, int n) {
  __shared__ float carry;
  const int b = blockIdx.x;
  float v = data[b * blockDim.x + threadIdx.x];
  if (b > 0) {
    if (threadIdx.x == 0) {
      while (ld_acquire(&ready[b - 1]) == 0) {}
      carry = data[b * blockDim.x - 1];
    }
    __syncthreads();
    v += carry;
  }
  data[b * blockDim.x + threadIdx.x] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    st_release(&ready[b], 1);
  }
}
