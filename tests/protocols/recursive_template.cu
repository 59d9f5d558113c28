// fault: "    asm volatile(\"cp.async.wait_group 1;\" ::: \"memory\");\n" => ""
// fault: "    __syncthreads();\n" => ""

// An array whose type a template tells that names itself with fewer arguments, and an iterator whose operator gives a
// reference by another name.
#include <cuda_runtime.h>

template <typename T, int... D>
struct nested {
  using type = T;
};
template <typename T, int D, int... R>
struct nested<T, D, R...> {
  using type = typename nested<T, R...>::type[D];
};

struct rows_of {
  using reference = const float4&;
  const float4* at;
  long step;
  __device__ reference operator*() const { return *at; }
  __device__ rows_of& operator++() {
    at += step;
    return *this;
  }
};

__device__ void copy(float4* to, const float4* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

template <int T>
__global__ void __launch_bounds__(T) rows(const float4* in, float4* out, int n) {
  __shared__ typename nested<float4, 3, T>::type ring;
  rows_of row{in + threadIdx.x, T};
  for (int s = 0; s < 2; ++s) {
    if (s < n) copy(&ring[s][threadIdx.x], &*row);
    ++row;
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int p = 0; p < n; ++p, ++row) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    out[p * T + threadIdx.x] = ring[p % 3][T - 1 - threadIdx.x];
    if (p + 2 < n) copy(&ring[(p + 2) % 3][threadIdx.x], &*row);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
}

void launch(const float4* in, float4* out, int n) { rows<128><<<1, 128>>>(in, out, n); }
