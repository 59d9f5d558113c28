// fault: "mbar_init(&in_full[i], 2)" => "mbar_init(&in_full[i], 1)"
// fault: "      mbar_wait(&out_empty[s], p ^ 1);\n" => ""
// fault: "      fence_async_smem();\n" => ""
// fault: "      mbar_wait(&out_full[s], p);\n" => ""
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
__device__ __forceinline__ void fence_async_smem() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void bulk_load(void *dst, const void *src, uint32_t bytes, uint64_t *bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem_u32(dst)),
               "l"(src), "r"(bytes), "r"(smem_u32(bar)) : "memory");
}
__device__ __forceinline__ void bulk_store(void *dst, const void *src, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst), "r"(smem_u32(src)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
// four roles: two loaders (A and B), one adder warp group, one storer warp
#define STAGES 2
#define N 1024
__global__ void __launch_bounds__(224) add_store(float *out, const float *a, const float *b, int tiles) {
  __shared__ alignas(128) float sa[STAGES][N], sb[STAGES][N], sc[STAGES][N];
  __shared__ uint64_t in_full[STAGES], in_empty[STAGES], out_full[STAGES], out_empty[STAGES];
  const int w = threadIdx.x >> 5, l = threadIdx.x & 31;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      mbar_init(&in_full[i], 2);
      mbar_init(&in_empty[i], 128);
      mbar_init(&out_full[i], 128);
      mbar_init(&out_empty[i], 1);
    }
    fence_mbar_init();
  }
  __syncthreads();
  if (w == 4 && l == 0) {
    for (int t = 0; t < tiles; ++t) {
      int s = t % STAGES, p = (t / STAGES) & 1;
      mbar_wait(&in_empty[s], p ^ 1);
      mbar_expect_tx(&in_full[s], N * 4);
      bulk_load(sa[s], a + t * N, N * 4, &in_full[s]);
    }
  } else if (w == 5 && l == 0) {
    for (int t = 0; t < tiles; ++t) {
      int s = t % STAGES, p = (t / STAGES) & 1;
      mbar_wait(&in_empty[s], p ^ 1);
      mbar_expect_tx(&in_full[s], N * 4);
      bulk_load(sb[s], b + t * N, N * 4, &in_full[s]);
    }
  } else if (w == 6 && l == 0) {
    for (int t = 0; t < tiles; ++t) {
      int s = t % STAGES, p = (t / STAGES) & 1;
      mbar_wait(&out_full[s], p);
      bulk_store(out + t * N, sc[s], N * 4);
      bulk_commit();
      bulk_wait_read<0>();
      mbar_arrive(&out_empty[s]);
    }
  } else if (w < 4) {
    for (int t = 0; t < tiles; ++t) {
      int s = t % STAGES, p = (t / STAGES) & 1;
      mbar_wait(&in_full[s], p);
      mbar_wait(&out_empty[s], p ^ 1);
      for (int i = threadIdx.x; i < N; i += 128) sc[s][i] = sa[s][i] + sb[s][i];
      fence_async_smem();
      mbar_arrive(&in_empty[s]);
      mbar_arrive(&out_full[s]);
    }
  }
}
