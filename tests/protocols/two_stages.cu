// fault: "    __syncthreads();\n    if (t == 0 && i + 1 < pairs) {\n      mbar_expect_tx(&bar_b" => "    if (t == 0 && i + 1 < pairs) {\n      mbar_expect_tx(&bar_b"
// fault: "    ph ^= 1;\n" => ""
// fault: "bulk_load(b, in + 512, 2048, &bar_b)" => "bulk_load(b, in + 512, 2048, &bar_a)"
#include <cstdint>
__device__ __forceinline__ uint32_t smem_u32(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void mbar_init(uint64_t *bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_expect_tx(uint64_t *bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(bar)), "r"(bytes) : "memory");
}
__device__ __forceinline__ bool mbar_try_wait(uint64_t *bar, uint32_t parity) {
  uint32_t ok;
  asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
               : "=r"(ok) : "r"(smem_u32(bar)), "r"(parity) : "memory");
  return ok;
}
__device__ __forceinline__ void mbar_wait(uint64_t *bar, uint32_t parity) {
  while (!mbar_try_wait(bar, parity)) {}
}
__device__ __forceinline__ void bulk_load(void *dst, const void *src, uint32_t bytes, uint64_t *bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem_u32(dst)),
               "l"(src), "r"(bytes), "r"(smem_u32(bar)) : "memory");
}
// two stages, unrolled by hand, all threads consume, thread 0 refills
__global__ void __launch_bounds__(128) two_bufs(float *out, const float *in, int pairs) {
  __shared__ alignas(16) float a[512];
  __shared__ alignas(16) float b[512];
  __shared__ uint64_t bar_a, bar_b;
  const int t = threadIdx.x;
  if (t == 0) {
    mbar_init(&bar_a, 1);
    mbar_init(&bar_b, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (t == 0) {
    mbar_expect_tx(&bar_a, 2048);
    bulk_load(a, in, 2048, &bar_a);
    mbar_expect_tx(&bar_b, 2048);
    bulk_load(b, in + 512, 2048, &bar_b);
  }
  uint32_t ph = 0;
  float acc = 0.f;
  for (int i = 0; i < pairs; ++i) {
    mbar_wait(&bar_a, ph);
    for (int k = t; k < 512; k += 128) acc += a[k];
    __syncthreads();
    if (t == 0 && i + 1 < pairs) {
      mbar_expect_tx(&bar_a, 2048);
      bulk_load(a, in + (2 * i + 2) * 512, 2048, &bar_a);
    }
    mbar_wait(&bar_b, ph);
    for (int k = t; k < 512; k += 128) acc += b[k];
    __syncthreads();
    if (t == 0 && i + 1 < pairs) {
      mbar_expect_tx(&bar_b, 2048);
      bulk_load(b, in + (2 * i + 3) * 512, 2048, &bar_b);
    }
    ph ^= 1;
  }
  out[blockIdx.x * 128 + t] = acc;
}
