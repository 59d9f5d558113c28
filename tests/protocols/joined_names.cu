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
// names that macros join of others and that stand nowhere, and what is left out without arguments
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TILE(n) JOIN(tile_, n)
#define COPIES(name, by) __device__ void name##_rows(float *d, const float *s) { copy16(d + threadIdx.x * by, s + threadIdx.x * by); }
#define CALL(f, a, ...) f(a __VA_OPT__(, ) __VA_ARGS__)
COPIES(four, 4)
COPIES(eight, 8)
__global__ void __launch_bounds__(64) rows(const float *in, float *out, int n) {
  __shared__ alignas(16) float TILE(0)[256];
  CALL(JOIN(four_, rows), TILE(0), in);
  CALL(__syncwarp, 0xffffffff);
  commit();
  wait_group<0>();
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = TILE(0)[255 - threadIdx.x * 4];
}
void launch(const float *a, float *b) { rows<<<4, 64>>>(a, b, 3); }
