// fault: "cp.async.mbarrier.arrive.noinc" => "cp.async.mbarrier.arrive"
// fault: "      arrive_copies(&full[s]);\n" => ""
// fault: "      wait(&full[s], i / kS & 1);\n" => ""
// fault: "      wait(&empty[s], (i / kS & 1) ^ 1);\n" => ""
// fault: "init(&full[i], 64);" => "init(&full[i], 65);"
// fault: "init(&empty[i], 64);" => "init(&empty[i], 32);"
#include <cstdint>
__device__ inline void cp_async4(void* smem_ptr, const void* glob_ptr) {
  const int BYTES = 16;
  uint32_t smem = static_cast<uint32_t>(__cvta_generic_to_shared(smem_ptr));
  asm volatile("{\n   cp.async.cg.shared.global [%0], [%1], %2;\n}\n" ::"r"(smem), "l"(glob_ptr), "n"(BYTES));
}
// Copies of each thread complete on an object.
constexpr int kS = 4;
__device__ inline uint32_t sa(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ inline void init(uint64_t* b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(sa(b)), "r"(n)); }
__device__ inline void arrive(uint64_t* b) { asm volatile("{.reg .b64 st; mbarrier.arrive.shared.b64 st, [%0];}" ::"r"(sa(b)) : "memory"); }
__device__ inline void arrive_copies(uint64_t* b) { asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(sa(b)) : "memory"); }
__device__ inline void wait(uint64_t* b, int p) {
  int ok;
  do asm volatile("{.reg .pred q; mbarrier.test_wait.parity.shared.b64 q, [%1], %2; selp.b32 %0, 1, 0, q;}" : "=r"(ok) : "r"(sa(b)), "r"(p) : "memory");
  while (!ok);
}
__global__ void __launch_bounds__(128) split(const float4* in, float* out, int n) {
  __shared__ float4 ring[kS][64];
  __shared__ uint64_t full[kS], empty[kS];
  if (threadIdx.x == 0) for (int i = 0; i < kS; i++) {
    init(&full[i], 64);
    init(&empty[i], 64);
  }
  __syncthreads();
  const int me = threadIdx.x & 63;
  if (threadIdx.x >= 64) {
    for (int i = 0; i < n; i++) {
      const int s = i % kS;
      wait(&empty[s], (i / kS & 1) ^ 1);
      cp_async4(&ring[s][me], in + i * 64 + me);
      arrive_copies(&full[s]);
    }
  } else {
    float x = 0;
    for (int i = 0; i < n; i++) {
      const int s = i % kS;
      wait(&full[s], i / kS & 1);
      x += ring[s][63 - me].x;
      arrive(&empty[s]);
    }
    out[me] = x;
  }
}
