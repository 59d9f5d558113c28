// fault: "    cp_async_wait<0>();\n    __syncthreads(); // K tile landed" => "    cp_async_wait<1>();\n    __syncthreads(); // K tile landed"
// fault: "    __syncthreads(); // V tile landed, K tile free\n" => ""
// fault: "    cp_async_wait<0>();\n    __syncthreads(); // V tile landed, K tile free" => "    __syncthreads();"
// fault: "    copy_tile(v_s, V + (size_t)n * kBlockN * kD);\n    cp_async_fence();" => "    copy_tile(v_s, V + (size_t)n * kBlockN * kD);"
// fault: "    cp_async_wait<0>();\n    __syncthreads(); // K tile landed" => "    cp_async_wait<0>();"
// flash-attention-2 order: V(n) is fetched under S = QK(n), K(n+1) under O += PV(n). 128 threads, one block for 64 queries.
#include <cstdint>
#include <cuda_bf16.h>
using bf16 = __nv_bfloat16;
constexpr int kBlockM = 64, kBlockN = 64, kD = 64, kThreads = 128;
template <int N> __device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory"); }
__device__ __forceinline__ void cp_async_fence() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
__device__ __forceinline__ void copy_tile(bf16* s, const bf16* g) {
#pragma unroll
  for (int i = threadIdx.x; i < 64 * kD / 8; i += kThreads) {
    uint32_t d = (uint32_t)__cvta_generic_to_shared(s + i * 8);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(d), "l"(g + i * 8) : "memory");
  }
}
__global__ void __launch_bounds__(kThreads) flash_fwd(const bf16* __restrict__ Q, const bf16* __restrict__ K, const bf16* __restrict__ V, float* __restrict__ O, int seqlen_k, float scale) {
  __shared__ __align__(16) bf16 q_s[kBlockM * kD];
  __shared__ __align__(16) bf16 k_s[kBlockN * kD];
  __shared__ __align__(16) bf16 v_s[kBlockN * kD];
  const int row = threadIdx.x / 2, half = threadIdx.x % 2;
  const int n_blocks = seqlen_k / kBlockN;
  copy_tile(q_s, Q + (size_t)blockIdx.x * kBlockM * kD);
  copy_tile(k_s, K);
  cp_async_fence();
  float m = -INFINITY, l = 0.f, acc[kD];
#pragma unroll
  for (int d = 0; d < kD; ++d) acc[d] = 0.f;
  for (int n = 0; n < n_blocks; ++n) {
    cp_async_wait<0>();
    __syncthreads(); // K tile landed
    copy_tile(v_s, V + (size_t)n * kBlockN * kD);
    cp_async_fence();
    float s[kBlockN / 2];
    float mx = m;
#pragma unroll
    for (int j = 0; j < kBlockN / 2; ++j) {
      float t = 0.f;
      for (int d = 0; d < kD; ++d) t += __bfloat162float(q_s[row * kD + d]) * __bfloat162float(k_s[(half * 32 + j) * kD + d]);
      s[j] = t * scale;
      mx = fmaxf(mx, s[j]);
    }
    mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, 1));
    float corr = exp2f(m - mx);
    m = mx;
    l *= corr;
    cp_async_wait<0>();
    __syncthreads(); // V tile landed, K tile free
    if (n + 1 < n_blocks) {
      copy_tile(k_s, K + (size_t)(n + 1) * kBlockN * kD);
      cp_async_fence();
    }
#pragma unroll
    for (int d = 0; d < kD; ++d) acc[d] *= corr;
#pragma unroll
    for (int j = 0; j < kBlockN / 2; ++j) {
      float p = exp2f(s[j] - mx);
      l += p;
      for (int d = 0; d < kD; ++d) acc[d] += p * __bfloat162float(v_s[(half * 32 + j) * kD + d]);
    }
  }
  l += __shfl_xor_sync(~0u, l, 1);
  float inv = 1.f / l;
#pragma unroll
  for (int d = 0; d < kD; ++d) {
    float o = acc[d] + __shfl_xor_sync(~0u, acc[d], 1);
    if (d / 32 == half) O[((size_t)blockIdx.x * kBlockM + row) * kD + d] = o * inv;
  }
}
void run_fa2(const bf16* q, const bf16* k, const bf16* v, float* o, int sq, int sk) { flash_fwd<<<sq / kBlockM, kThreads>>>(q, k, v, o, sk, 0.125f); }
