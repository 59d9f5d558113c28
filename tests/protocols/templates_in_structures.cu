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
// templates of types in a structure, by names that stand for others
struct Policy {
  template <int N> struct At { static constexpr int step = N; };
  template <int N> using By = At<N>;
  template <class T> using Tile = T[256];
};
template <class P> struct Kernel {
  template <int N> using Step = typename P::template By<N>;
  using Tile = typename P::template Tile<float>;
  static constexpr int step = Step<4>::step;
  __device__ static void fetch(Tile &tile, const float *s) { copy16(&tile[threadIdx.x * step], s + threadIdx.x * step); }
};
__global__ void __launch_bounds__(64) rows(const float *in, float *out, int n) {
  __shared__ alignas(16) Policy::Tile<float> tile;
  Kernel<Policy>::fetch(tile, in);
  commit();
  wait_group<0>();
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = tile[255 - threadIdx.x * 4];
}
void launch(const float *a, float *b) { rows<<<4, 64>>>(a, b, 3); }
