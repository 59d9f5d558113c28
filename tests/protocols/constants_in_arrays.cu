// fault: "  __pipeline_wait_prior(0);" => ""
// fault: "  __syncthreads();" => ""
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

// Arrays of constants in a structure, and methods for constant objects as well.
struct Parts {
  static constexpr int first[2] = {0, 128};
  __device__ float* at(int number) { return row + number; }
  __device__ const float* at(int number) const { return row + number; }
  float row[256];
};

__global__ void __launch_bounds__(64) turned(const float* in, float* out) {
  __shared__ __align__(16) Parts parts;
  constexpr int first = Parts::first[0], second = Parts::first[1];
  __pipeline_memcpy_async(parts.at(first + threadIdx.x * 2), in + threadIdx.x * 2, 8);
  __pipeline_memcpy_async(parts.at(second + threadIdx.x * 2), in + threadIdx.x * 2, 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = *parts.at(255u - threadIdx.x);
}

void launch(const float* in, float* out) { turned<<<1, 64>>>(in, out); }
