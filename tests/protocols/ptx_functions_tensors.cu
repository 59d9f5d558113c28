// fault: "    ptx::tcgen05_commit(ptx::cta_group_1, &done);\n" => ""
// fault: "  ptx::tcgen05_fence_after_thread_sync();  // the product\n" => ""
// fault: "  ptx::tcgen05_wait_ld();\n" => ""
// fault: "  ptx::fence_proxy_async(ptx::space_shared);  // the matrices\n" => ""
// fault: "  if (warp == 0) ptx::tcgen05_dealloc(ptx::cta_group_1, tensor, 32);\n" => ""
// The functions of cuda::ptx for tensor memory.
#include <cuda/ptx>
#include <cuda_runtime.h>
namespace ptx = cuda::ptx;
constexpr int K = 64;
__device__ inline uint64_t matrix(const void* p) {
  return (((uint32_t)__cvta_generic_to_shared(p) & 0x3ffff) >> 4) | (1ull << 46) | (64ull << 32);
}
__global__ void __launch_bounds__(128) product(const uint16_t* a, const uint16_t* b, float* c) {
  __shared__ alignas(1024) uint16_t left[128 * K], right[32 * K];
  __shared__ uint64_t done;
  __shared__ uint32_t columns;
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&done, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  if (warp == 0) {
    ptx::tcgen05_alloc(ptx::cta_group_1, &columns, 32);
    ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
  }
  for (int i = threadIdx.x; i < 128 * K; i += 128) left[i] = a[i];
  for (int i = threadIdx.x; i < 32 * K; i += 128) right[i] = b[i];
  ptx::fence_proxy_async(ptx::space_shared);  // the matrices
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();
  const uint32_t tensor = columns;
  if (threadIdx.x == 0) {
    ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_1, tensor, matrix(left), matrix(right), 0x8080490, false, ptx::n32_t<0>{});
    ptx::tcgen05_commit(ptx::cta_group_1, &done);
  }
  __syncwarp();
  while (!ptx::mbarrier_try_wait_parity(&done, 0)) {
  }
  ptx::tcgen05_fence_after_thread_sync();  // the product
  uint32_t v[4];
  ptx::tcgen05_ld_32x32b(v, tensor + (warp << 21));
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 4; ++i) c[threadIdx.x * 4 + i] = __uint_as_float(v[i]);
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();
  if (warp == 0) ptx::tcgen05_dealloc(ptx::cta_group_1, tensor, 32);
}
void run(const uint16_t* a, const uint16_t* b, float* c) { product<<<1, 128>>>(a, b, c); }
