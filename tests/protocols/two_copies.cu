// fault: "    cp_wait<0>();\n    __syncthreads();\n    // scores" => "    __syncthreads();\n    // scores"
// fault: "    cp_wait<0>();\n    __syncthreads();\n    // values" => "    cp_wait<0>();\n    // values"
// fault: "    cp_wait<0>();\n    __syncthreads();\n    // values" => "    cp_wait<1>();\n    __syncthreads();\n    // values"
// fault: "    load(sV, v + j * 64 * 32);\n    cp_commit();\n" => "    load(sV, v + j * 64 * 32);\n"
// fault: "    cp_wait<0>();\n    __syncthreads();\n    // scores" => "    cp_wait<0>();\n    // scores"
// fault: "      load(sK, k + (j - 1) * 64 * 32);\n      cp_commit();\n" => "      load(sV, k + (j - 1) * 64 * 32);\n      cp_commit();\n"
#include <cuda_fp16.h>
#include <cstdint>
template <int N> __device__ __forceinline__ void cp_wait() { asm volatile("cp.async.wait_group %0;\n" ::"n"(N)); }
__device__ __forceinline__ void cp_commit() { asm volatile("cp.async.commit_group;\n" ::); }
__device__ __forceinline__ void load(__half* s, const __half* g) {
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int at = (i * 128 + threadIdx.x) * 8;
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\n" ::"r"((uint32_t)__cvta_generic_to_shared(s + at)), "l"(g + at), "n"(16));
  }
}
__global__ void __launch_bounds__(128) decode(const __half* q, const __half* k, const __half* v, float* o, int blocks) {
  extern __shared__ __align__(16) __half sm[];
  __half* sK = sm;
  __half* sV = sm + 64 * 32;
  int j = blocks - 1;
  load(sK, k + j * 64 * 32);
  cp_commit();
  float acc = 0, qv = __half2float(q[threadIdx.x]);
  for (; j >= 0; --j) {
    cp_wait<0>();
    __syncthreads();
    // scores
    load(sV, v + j * 64 * 32);
    cp_commit();
    float s = 0;
    for (int i = 0; i < 32; i++) s += qv * __half2float(sK[(threadIdx.x & 63) * 32 + i]);
    cp_wait<0>();
    __syncthreads();
    // values
    if (j > 0) {
      load(sK, k + (j - 1) * 64 * 32);
      cp_commit();
    }
    for (int i = 0; i < 32; i++) acc += s * __half2float(sV[(threadIdx.x & 63) * 32 + i]);
  }
  o[blockIdx.x * 128 + threadIdx.x] = acc;
}
