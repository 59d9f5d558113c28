// fault: "  __pipeline_wait_prior(0);" => ""
// fault: "  __syncthreads();" => ""
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <type_traits>

// Which function it is, an object of a type without members tells.
__device__ void copy(std::false_type, float*, const float*) {}
__device__ void copy(std::true_type, float* to, const float* from) { __pipeline_memcpy_async(to, from, 8); }
template <bool All> __device__ void copy_all(std::bool_constant<All>, float* to, const float* from) {
  if constexpr (All) __pipeline_memcpy_async(to, from, 8);
}

__global__ void __launch_bounds__(64) turned(const float* in, float* out) {
  __shared__ __align__(16) float tile[256];
  copy(std::true_type{}, tile + threadIdx.x * 2, in + threadIdx.x * 2);
  copy_all(std::true_type{}, tile + 128 + threadIdx.x * 2, in + 128 + threadIdx.x * 2);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[255 - threadIdx.x];
}

void launch(const float* in, float* out) { turned<<<1, 64>>>(in, out); }
