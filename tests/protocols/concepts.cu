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
// concepts and what templates require choose among them
template <class T> concept Word = sizeof(T) == 4;
template <class T> concept Number = Word<T> && std::is_floating_point_v<T>;
template <Number T> __device__ void fetch(T *d, const T *s) { copy16(d, s); }
template <class T> requires (sizeof(T) == 8) __device__ void fetch(T *d, const T *s) { *d = *s; }
__global__ void __launch_bounds__(64) rows(const float *in, float *out, int n) {
  __shared__ alignas(16) float tile[256];
  fetch(tile + threadIdx.x * 4, in + threadIdx.x * 4);
  commit();
  wait_group<0>();
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = tile[255 - threadIdx.x * 4];
}
void launch(const float *a, float *b) { rows<<<4, 64>>>(a, b, 3); }
