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
// where members lie, and statements that give a value
#define LARGER(a, b) ({ const int one = (a), other = (b); one > other ? one : other; })
struct Storage { uint64_t bars[2]; float tile[256]; };
__global__ void __launch_bounds__(64) rows(const float *in, float *out, int n) {
  extern __shared__ __align__(16) char raw[];
  float *tile = reinterpret_cast<float *>(raw + offsetof(Storage, tile));
  copy16(tile + threadIdx.x * LARGER(4, 2), in + threadIdx.x * 4);
  commit();
  wait_group<0>();
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = tile[255 - threadIdx.x * 4];
}
void launch(const float *a, float *b) { rows<<<4, 64, sizeof(Storage)>>>(a, b, 3); }
