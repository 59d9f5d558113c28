// fault: "      if (t == 0) store_wait<1>();\n" => ""
// fault: "      if (t == 0) store_wait<1>();\n" => "      if (t == 0) store_wait<2>();\n"
// fault: "      async_fence();\n" => ""
// fault: "      epi_sync();\n      if (t == 0) {" => "      if (t == 0) {"
// fault: "      epi_sync();\n      float* at" => "      float* at"
// fault: "        acc_free[a].arrive_one();\n" => ""
// fault: "acc_full[a].wait(ph);" => "acc_full[a].wait(ph ^ 1);"
// fault: "acc_free[i].init(1);" => "acc_free[i].init(128);"
#include <cuda.h>
#include <cstdint>
struct MB {
  uint64_t v;
  __device__ uint32_t p() { return (uint32_t)__cvta_generic_to_shared(&v); }
  __device__ void init(int c) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(p()), "r"(c)); }
  __device__ void arrive_one() { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(p()) : "memory"); }
  __device__ void wait(int ph) {
    uint32_t ok = 0;
    while (!ok) asm volatile("{.reg .pred q; mbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2; selp.b32 %0, 1, 0, q;}" : "=r"(ok) : "r"(p()), "r"(ph) : "memory");
  }
};
__device__ void async_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
template <int N> __device__ void store_wait() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
__device__ void epi_sync() { asm volatile("bar.sync 2, 128;" ::: "memory"); }
// Math warps hand results to epilogue warps, which store them.
__global__ void __launch_bounds__(256) two_part(const float* x, float* y, int n) {
  __shared__ alignas(128) float acc[2][512];
  __shared__ alignas(128) float stage[2][512];
  __shared__ MB acc_full[2], acc_free[2];
  if (threadIdx.x == 0) for (int i = 0; i < 2; i++) {
    acc_full[i].init(128);
    acc_free[i].init(1);
  }
  __syncthreads();
  const int t = threadIdx.x % 128;
  if (threadIdx.x < 128) {
    int a = 0, ph = 1;
    for (int i = blockIdx.x; i < n; i += gridDim.x) {
      acc_free[a].wait(ph);
      for (int k = 0; k < 4; k++) acc[a][k * 128 + t] = x[i * 512 + k * 128 + t] * 3;
      acc_full[a].arrive_one();
      a ^= 1;
      if (a == 0) ph ^= 1;
    }
  } else {
    int a = 0, ph = 0;
    for (int i = blockIdx.x; i < n; i += gridDim.x) {
      acc_full[a].wait(ph);
      float v[4];
      for (int k = 0; k < 4; k++) v[k] = acc[a][t * 4 + k];
      if (t == 0) store_wait<1>();
      epi_sync();
      float* at = stage[a];
      for (int k = 0; k < 4; k++) at[k * 128 + t] = v[k];
      async_fence();
      epi_sync();
      if (t == 0) {
        acc_free[a].arrive_one();
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(y + i * 512), "r"((uint32_t)__cvta_generic_to_shared(at)), "r"(2048) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      }
      a ^= 1;
      if (a == 0) ph ^= 1;
    }
    if (t == 0) store_wait<0>();
  }
}
