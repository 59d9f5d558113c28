// fault: "wait_group<0>();" => ""
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
__device__ __forceinline__ void copy16(void *d, const void *s) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(d)), "l"(s) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait_group() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// which of several templates is meant, their conditions say: the other one copies nothing
template <class T, std::enable_if_t<std::is_same<T, float>::value, int> = 0>
__device__ void fetch(T *d, const T *s) { copy16(d, s); }
template <class T, std::enable_if_t<!std::is_same<T, float>::value, int> = 0>
__device__ void fetch(T *d, const T *s) { *d = *s; }
template <int N> __device__ std::enable_if_t<(N == 4)> vector(float *d, const float *s) { fetch(d, s); }
template <int N> __device__ std::enable_if_t<(N != 4)> vector(float *d, const float *s) { *d = *s; }
template <class T, typename = typename std::enable_if<std::is_floating_point_v<T>>::type>
__device__ void row(T *d, const T *s) { vector<16 / sizeof(T)>(d + threadIdx.x * 4, s + threadIdx.x * 4); }
__global__ void __launch_bounds__(64) rows(const float *in, float *out, int n) {
  __shared__ alignas(16) float tile[256];
  row(tile, in);
  commit();
  wait_group<0>();
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = tile[255 - threadIdx.x * 4];
}
void launch(const float *a, float *b) { rows<<<4, 64>>>(a, b, 3); }
