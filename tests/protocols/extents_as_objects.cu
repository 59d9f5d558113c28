// fault: "  __pipeline_wait_prior(0);" => ""
// fault: "  __syncthreads();" => ""
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

// Indices as objects, a condition on the target outside the preprocessor, and a macro that takes what is left.
#define COPY(to, ...) __pipeline_memcpy_async(to, ##__VA_ARGS__)
#ifdef __CUDA_ARCH__
#define TARGET (__CUDA_ARCH__ / 10)
#else
#define TARGET 0
#endif

__global__ void __launch_bounds__(64) turned(const float* in, float* out) {
  __shared__ __align__(16) float tile[256];
  const uint3 at = threadIdx;
  const dim3 step(4, 1);
  if constexpr (TARGET >= 80)
    COPY(tile + at.x * step.x, in + at.x * step.x, 16);
  else
    tile[at.x] = 0.f;
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[255 - threadIdx.x];
}

void launch(const float* in, float* out) { turned<<<1, 64>>>(in, out); }
