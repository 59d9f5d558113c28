// fault: "cp_wait<0>();\n    __syncthreads();\n    if (n + 1 < blocks)" => "cp_wait<1>();\n    __syncthreads();\n    if (n + 1 < blocks)"
// fault: "    cp_wait<0>();\n    __syncthreads();\n    if (n + 1" => "    cp_wait<0>();\n    if (n + 1"
// fault: "      copy_tile<T>(sm.k, K + (n + 1) * tile, tile);\n      cp_commit();\n" => "      copy_tile<T>(sm.k, K + (n + 1) * tile, tile);\n"
// fault: "    cp_wait<0>();\n    __syncthreads();\n    copy_tile<T>(sm.v" => "    cp_wait<0>();\n    copy_tile<T>(sm.v"
#include <cstdint>
__device__ __forceinline__ uint32_t smem_u32(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp16(void *dst, const void *src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_u32(dst)), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void cp_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// FlashAttention-2 like: K double buffered by cp.async, V single, two groups in flight
template <int kThreads_, int kN_, int kD_> struct Traits {
  static constexpr int kThreads = kThreads_, kN = kN_, kD = kD_;
  struct Smem { alignas(16) float q[kD_ * 4]; alignas(16) float k[kN_ * kD_]; alignas(16) float v[kN_ * kD_]; float p[kN_ * 4]; };
};
template <class T> __device__ __forceinline__ void copy_tile(float *dst, const float *src, int elems) {
  for (int i = threadIdx.x * 4; i < elems; i += T::kThreads * 4) cp16(dst + i, src + i);
}
template <class T> __global__ void __launch_bounds__(T::kThreads) attn(const float *Q, const float *K, const float *V, float *O, int blocks) {
  __shared__ typename T::Smem sm;
  constexpr int tile = T::kN * T::kD;
  copy_tile<T>(sm.q, Q + blockIdx.x * T::kD * 4, T::kD * 4);
  copy_tile<T>(sm.k, K, tile);
  cp_commit();
  float acc = 0.f;
  for (int n = 0; n < blocks; ++n) {
    cp_wait<0>();
    __syncthreads();
    copy_tile<T>(sm.v, V + n * tile, tile);
    cp_commit();
    if (threadIdx.x < T::kN) {
      for (int r = 0; r < 4; ++r) {
        float s = 0.f;
        for (int d = 0; d < T::kD; ++d) s += sm.q[r * T::kD + d] * sm.k[threadIdx.x * T::kD + d];
        sm.p[r * T::kN + threadIdx.x] = s;
      }
    }
    cp_wait<0>();
    __syncthreads();
    if (n + 1 < blocks) {
      copy_tile<T>(sm.k, K + (n + 1) * tile, tile);
      cp_commit();
    }
    for (int j = 0; j < T::kN; ++j) acc += sm.p[(threadIdx.x / T::kD) * T::kN + j] * sm.v[j * T::kD + threadIdx.x % T::kD];
  }
  O[blockIdx.x * T::kThreads + threadIdx.x] = acc;
}
template __global__ void attn<Traits<128, 32, 32>>(const float *, const float *, const float *, float *, int);
