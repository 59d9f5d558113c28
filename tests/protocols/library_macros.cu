// fault: "  WAIT_FOR_ALL();\n" => ""
// fault: "  __pipeline_commit();\n" => ""
// fault: "  __syncthreads();\n  out" => "  out"
// A kernel without asm statements whose constants and steps are macros, one of them chosen by a condition.
#include <cuda_pipeline.h>
#define THREADS 128
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))
#if THREADS > 64
#define WAIT_FOR_ALL() __pipeline_wait_prior(0)
#else
#define WAIT_FOR_ALL() do { } while (0)
#endif
__global__ void __launch_bounds__(THREADS) turn_rows(const float* in, float* out) {
  __shared__ __align__(16) float row[THREADS * DIV_UP(13, 4)];
  for (int part = 0; part < DIV_UP(13, 16); ++part)
    __pipeline_memcpy_async(&row[threadIdx.x * 4], in + (blockIdx.x * THREADS + threadIdx.x) * 4, 16);
  __pipeline_commit();
  WAIT_FOR_ALL();
  __syncthreads();
  out[blockIdx.x * THREADS + threadIdx.x] = row[THREADS * 4 - 1 - threadIdx.x];
}
void run(const float* in, float* out) { turn_rows<<<64, THREADS>>>(in, out); }
