// fault: "    while (!ptx::mbarrier_try_wait_parity(&answered, phase)) {  // which block is next\n    }\n" => ""
// fault: "    ptx::tcgen05_commit(ptx::cta_group_1, &done);\n" => ""
// fault: "  ptx::tcgen05_wait_ld();  // the sums\n" => ""
// fault: "  __syncthreads();  // the address is there\n" => ""
// fault: "    ptx::tcgen05_dealloc(ptx::cta_group_1, base, 64u);\n" => ""
// Blocks that take the work of others, and matrices with scales that are copied to tensor memory.
#include <cuda_runtime.h>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
__global__ void __launch_bounds__(128) stolen(float* out, const float* in) {
  __shared__ alignas(16) int4 answer;
  __shared__ alignas(8) uint64_t answered;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&answered, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  int block = blockIdx.x;
  for (unsigned phase = 0;; phase ^= 1) {
    if (threadIdx.x == 0) {
      ptx::fence_proxy_async_generic_sync_restrict(ptx::sem_acquire, ptx::space_cluster, ptx::scope_cluster);
      ptx::clusterlaunchcontrol_try_cancel(&answer, &answered);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &answered, sizeof(int4));
    }
    out[block * 128 + threadIdx.x] = 2.f * in[block * 128 + threadIdx.x];
    while (!ptx::mbarrier_try_wait_parity(&answered, phase)) {  // which block is next
    }
    const int4 found = answer;
    if (!ptx::clusterlaunchcontrol_query_cancel_is_canceled(found)) break;
    block = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<int>(found);
    ptx::fence_proxy_async_generic_sync_restrict(ptx::sem_release, ptx::space_shared, ptx::scope_cluster);
    __syncthreads();  // all have read the answer
  }
}
__global__ void __launch_bounds__(128) scaled(float* out, uint64_t one, uint64_t other, uint64_t scales, uint32_t how) {
  __shared__ uint32_t address;
  __shared__ alignas(8) uint64_t done;
  if (threadIdx.x < 32) {
    ptx::tcgen05_alloc(ptx::cta_group_1, &address, 64u);
    ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
  }
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&done, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();  // the address is there
  const uint32_t base = address;
  if (threadIdx.x == 0) {
    ptx::tcgen05_cp_32x128b_warpx4(ptx::cta_group_1, base + 32, scales);
    ptx::tcgen05_mma_block_scale_vec_1x(ptx::kind_mxf8f6f4, ptx::cta_group_1, base, one, other, how, base + 32, base + 36, false);
    ptx::tcgen05_commit(ptx::cta_group_1, &done);
  }
  while (!ptx::mbarrier_try_wait_parity(&done, 0)) {
  }
  ptx::tcgen05_fence_after_thread_sync();
  uint32_t sums[4];
  ptx::tcgen05_ld_16x64b(sums, base + ((threadIdx.x & 96) << 16));
  ptx::tcgen05_wait_ld();  // the sums
  out[threadIdx.x] = __uint_as_float(sums[0] + sums[3]);
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  if (threadIdx.x < 32) {
    ptx::tcgen05_fence_after_thread_sync();
    ptx::tcgen05_dealloc(ptx::cta_group_1, base, 64u);
  }
}
void launch(float* p) {
  stolen<<<64, 128>>>(p, p + 65536);
  scaled<<<4, 128>>>(p, 1, 2, 3, 4);
}
