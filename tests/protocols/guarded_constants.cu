// fault: "    cp_wait<STAGES - 2>();" => ""
// fault: "    __syncthreads();  // the tile is there" => ""
#include <cuda_runtime.h>
#include <cstdint>

#if !defined(STAGES)
#define STAGES 3
#endif
#if !defined(WITHOUT_COPIES) && (!defined(ROW_SIZE) || ROW_SIZE == 0)
#define ROW 256
#endif

__device__ void cp_async(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
__device__ void cp_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ void cp_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

__global__ void __launch_bounds__(64) sums(const float* in, float* out, int rounds) {
  __shared__ __align__(16) float tile[STAGES][ROW];
  const int at = threadIdx.x * 4;
  for (int t = 0; t < STAGES - 1; ++t) {
    if (t < rounds) cp_async(&tile[t][at], in + t * ROW + at);
    cp_commit();
  }
  float sum = 0.f;
  for (int t = 0; t < rounds; ++t) {
    cp_wait<STAGES - 2>();
    __syncthreads();  // the tile is there
    const int next = t + STAGES - 1;
    if (next < rounds) cp_async(&tile[next % STAGES][at], in + next * ROW + at);
    cp_commit();
    sum += tile[t % STAGES][ROW - 1 - at];
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

void launch(const float* in, float* out) { sums<<<1, 64>>>(in, out, 64); }
