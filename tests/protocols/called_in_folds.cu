// fault: "  __pipeline_wait_prior(0);" => ""
// fault: "  __syncthreads();" => ""
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <type_traits>
#include <utility>

// A lambda that a fold calls for each number, and one that is handed on.
template <int... I>
__device__ void loads(float* to, const float* from, std::integer_sequence<int, I...>) {
  ([&] { __pipeline_memcpy_async(to + I * 128 + threadIdx.x * 2, from + I * 128 + threadIdx.x * 2, 8); }(), ...);
}
template <int From, int To, class Body> __device__ void for_each(Body&& body) {
  if constexpr (From < To) {
    body(std::integral_constant<int, From>{});
    for_each<From + 1, To>(std::forward<Body>(body));
  }
}

__global__ void __launch_bounds__(64) turned(const float* in, float* out) {
  __shared__ __align__(16) float tile[256];
  loads(tile, in, std::make_integer_sequence<int, 1>());
  for_each<1, 2>([&](auto number) {
    constexpr int first = decltype(number)::value * 128;
    __pipeline_memcpy_async(tile + first + threadIdx.x * 2, in + first + threadIdx.x * 2, 8);
  });
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[255 - threadIdx.x];
}

void launch(const float* in, float* out) { turned<<<1, 64>>>(in, out); }
