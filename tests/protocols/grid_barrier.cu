// fault: "    unsigned g = ld_acq_u(gen);\n    __threadfence();\n" => "    unsigned g = ld_acq_u(gen);\n"
// fault: "while (ld_acq_u(gen) == g)" => "while (*gen == g)"
#include <cstdint>
__device__ __forceinline__ unsigned ld_acq_u(const unsigned *p) { unsigned v; asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
// grid barrier by counting, then exchange
__device__ void grid_sync(unsigned *count, unsigned *gen, unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned g = ld_acq_u(gen);
    __threadfence();
    if (atomicAdd(count, 1u) == blocks - 1) {
      *count = 0;
      __threadfence();
      asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(gen), "r"(g + 1) : "memory");
    } else {
      while (ld_acq_u(gen) == g) {}
    }
  }
  __syncthreads();
}
__global__ void rotate(float *x, float *y, unsigned *count, unsigned *gen) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i * 0.5f;
  grid_sync(count, gen, gridDim.x);
  int j = (i + blockDim.x) % (gridDim.x * blockDim.x);
  y[i] = x[j];
}
