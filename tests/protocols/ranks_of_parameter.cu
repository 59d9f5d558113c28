// fault: "  __syncthreads();  // the part is stored\n" => ""
// fault: "  __syncthreads();  // all ranks have come\n" => ""
// fault: "st.release.sys.global.u32" => "st.relaxed.sys.global.u32"
// fault: "ld.acquire.sys.global.u32" => "ld.relaxed.sys.global.u32"
// How many ranks there are is a parameter, and a thread for each of them tells it and waits for it.
#include <cstdint>
#include <cuda_runtime.h>
struct Ranks {
  float* part[8];
  float* sum[8];
  uint32_t* seen[8];
  int own, count;
};
__device__ __forceinline__ void tell(uint32_t* at, uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}
__device__ __forceinline__ uint32_t look(const uint32_t* at) {
  uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
__global__ void __launch_bounds__(256) reduce(Ranks r, const float* in, int n, uint32_t turn) {
  const int first = blockIdx.x * 256 + threadIdx.x, step = gridDim.x * 256;
  for (int i = first; i < n; i += step) r.part[r.own][i] = 2.f * in[i];
  __syncthreads();  // the part is stored
  if (threadIdx.x < r.count) {
    tell(r.seen[threadIdx.x] + blockIdx.x * 8 + r.own, turn);
    while (look(r.seen[r.own] + blockIdx.x * 8 + threadIdx.x) != turn) {
    }
  }
  __syncthreads();  // all ranks have come
  for (int i = first; i < n; i += step) {
    float all = 0.f;
    for (int other = 0; other < r.count; ++other) all += r.part[other][i];
    r.sum[r.own][i] = all;
  }
}
void run(Ranks r, const float* in, int n, uint32_t turn) { reduce<<<32, 256>>>(r, in, n, turn); }
