// fault: "  __pipeline_wait_prior(0);" => ""
// fault: "  __syncthreads();" => ""
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <type_traits>

// Numbers of one size are of different types.
template <class To> struct Narrow;
template <> struct Narrow<__half> {
  static constexpr int per_copy = 8;
  __device__ __half operator()(float of) const { return __float2half_rn(of); }
};
template <> struct Narrow<__nv_bfloat16> {
  static constexpr int per_copy = 8;
  __device__ __nv_bfloat16 operator()(float of) const { return __float2bfloat16_rn(of); }
};
__device__ float wide(__half of) { return __half2float(of); }
__device__ float wide(__nv_bfloat16 of) { return __bfloat162float(of); }
template <class T> __device__ T twice(T of);
template <> __device__ __half twice<__half>(__half of) { return __hadd(of, of); }
template <> __device__ __nv_bfloat16 twice<__nv_bfloat16>(__nv_bfloat16 of) { return __hadd(of, of); }

template <class T>
__global__ void __launch_bounds__(64) scaled(const T* in, T* out, float by) {
  constexpr int per_copy = std::is_same_v<T, __half> ? Narrow<T>::per_copy : 2;
  __shared__ __align__(16) T tile[64 * 8];
  const int at = threadIdx.x * per_copy;
  __pipeline_memcpy_async(&tile[at], in + at, sizeof(T) * per_copy);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = Narrow<T>{}(wide(twice<T>(tile[63 - threadIdx.x])) * by);
}

void launch(const __half* in, __half* out) { scaled<__half><<<1, 64>>>(in, out, 2.f); }
