// fault: "uint32_t par = 1;" => "uint32_t par = 0;"
// fault: "mbar_init(e + threadIdx.x, 256)" => "mbar_init(e + threadIdx.x, 128)"
// fault: "if (threadIdx.x < 8) {" => "if (threadIdx.x < 7) {"
#include <cstdint>
__device__ __forceinline__ uint32_t smem_u32(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void mbar_init(uint64_t *bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_expect_tx(uint64_t *bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(bar)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t *bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_u32(bar)) : "memory");
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
__device__ __forceinline__ void fence_mbar_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void bulk_load(void *dst, const void *src, uint32_t bytes, uint64_t *bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem_u32(dst)),
               "l"(src), "r"(bytes), "r"(smem_u32(bar)) : "memory");
}
template <int N> __device__ __forceinline__ void reg_inc() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> __device__ __forceinline__ void reg_dec() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
// producer warpgroup with fewer registers, two consumer warpgroups, start parity by value
__global__ void __launch_bounds__(384) regs(float *out, const float *in, int n) {
  extern __shared__ __align__(128) float buf[];
  __shared__ uint64_t f[8], e[8];
  const int S = 8;
  if (threadIdx.x < 8) {
    mbar_init(f + threadIdx.x, 1);
    mbar_init(e + threadIdx.x, 256);
  }
  fence_mbar_init();
  __syncthreads();
  if (threadIdx.x < 128) {
    reg_dec<24>();
    uint32_t par = 1;
    if (threadIdx.x == 0)
      for (int i = 0, s = 0; i < n; ++i) {
        mbar_wait(e + s, par);
        mbar_expect_tx(f + s, 2048);
        bulk_load(buf + s * 512, in + i * 512, 2048, f + s);
        if (++s == S) s = 0, par ^= 1;
      }
  } else {
    reg_inc<240>();
    uint32_t par = 0;
    float v = 0;
    for (int i = 0, s = 0; i < n; ++i) {
      mbar_wait(f + s, par);
      v += buf[s * 512 + threadIdx.x - 128] * buf[s * 512 + threadIdx.x + 128];
      mbar_arrive(e + s);
      if (++s == S) s = 0, par ^= 1;
    }
    out[threadIdx.x - 128] = v;
  }
}
