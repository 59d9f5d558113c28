// fault: "      wait_bar(&acc_empty[b], ap ^ 1);\n" => ""
// fault: "init_bar(&acc_empty[i], 128);" => "init_bar(&acc_empty[i], 4);"
// fault: "      arrive_bar(&acc_empty[b]);\n" => ""
// fault: "      wait_bar(&acc_full[b], ap);\n" => ""
// fault: "      commit_bar(&acc_full[b]);\n" => ""
// fault: "      commit_bar(&acc_full[b]);\n      if (b == 1) ap ^= 1;" => "      commit_bar(&acc_full[b]);"
#include <cstdint>
__device__ __forceinline__ uint32_t su(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init_bar(uint64_t* b, uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(su(b)), "r"(n)); }
__device__ __forceinline__ void arrive_bar(uint64_t* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(su(b)) : "memory"); }
__device__ __forceinline__ void commit_bar(uint64_t* b) { asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(su(b)) : "memory"); }
__device__ __forceinline__ void wait_bar(uint64_t* b, uint32_t p) {
  asm volatile("{\n.reg .pred P1;\nWL:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@!P1 bra WL;\n}" ::"r"(su(b)), "r"(p) : "memory");
}
__device__ __forceinline__ void mma(uint32_t d, uint64_t a, uint64_t b) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 0, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(d), "l"(a), "l"(b), "r"(0x8200490));
}
__global__ void __launch_bounds__(160) persistent(uint32_t* out, int tiles) {
  __shared__ alignas(1024) char ab[32768];
  __shared__ uint64_t acc_full[2], acc_empty[2];
  __shared__ uint32_t base;
  const int warp = threadIdx.x >> 5;
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; ++i) {
      init_bar(&acc_full[i], 1);
      init_bar(&acc_empty[i], 128);
    }
  if (warp == 4) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 256;" ::"r"(su(&base)) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  for (int i = threadIdx.x; i < 8192; i += 160) reinterpret_cast<int*>(ab)[i] = i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const uint32_t tm = base;
  uint32_t ap = 0;
  if (threadIdx.x == 128) {
    for (int t = 0; t < tiles; ++t) {
      const int b = t & 1;
      wait_bar(&acc_empty[b], ap ^ 1);
      asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
      mma(tm + b * 128, (su(ab) >> 4) | (1ull << 46), (su(ab + 16384) >> 4) | (1ull << 46));
      commit_bar(&acc_full[b]);
      if (b == 1) ap ^= 1;
    }
  } else if (threadIdx.x < 128) {
    for (int t = 0; t < tiles; ++t) {
      const int b = t & 1;
      wait_bar(&acc_full[b], ap);
      asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
      uint32_t x, y;
      asm volatile("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(tm + b * 128 + (warp << 21)));
      asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
      asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
      arrive_bar(&acc_empty[b]);
      out[t * 128 + threadIdx.x] = x ^ y;
      if (b == 1) ap ^= 1;
    }
  }
  __syncthreads();
  if (warp == 4) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 256;" ::"r"(tm));
}
