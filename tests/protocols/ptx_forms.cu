// fault: "  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {  // the row\n  }\n" => ""
// fault: "  ptx::fence_proxy_async(ptx::space_shared);  // before the sum leaves\n" => ""
// fault: "  while (!ptx::mbarrier_try_wait_parity(&ready, 0)) {  // the tile\n  }\n" => ""
// fault: "  __syncthreads();  // the map is whole\n" => ""
// Functions of cuda::ptx that are one instruction each, beside a copy: sums of several devices, maps of tensors, other blocks.
#include <cuda_runtime.h>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
__global__ void __launch_bounds__(128) summed(float* out, const float* rows, unsigned* all, unsigned count) {
  __shared__ alignas(128) float row[256];
  __shared__ alignas(8) uint64_t full;
  const unsigned lane = ptx::get_sreg_laneid();
  const unsigned before = __popc(ptx::get_sreg_lanemask_lt());
  if (ptx::get_sreg_tid_x() == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (ptx::get_sreg_tid_x() == 0) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, row, rows + blockIdx.x * 256, 1024, &full);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, 1024);
  }
  const unsigned others = ptx::multimem_ld_reduce(ptx::sem_relaxed, ptx::scope_sys, ptx::op_add, all + 1);
  if (threadIdx.x == 0) ptx::multimem_red(ptx::sem_relaxed, ptx::scope_sys, ptx::op_add, all, others);
  bool is_there;
  const unsigned first = ptx::shfl_sync_idx(count, is_there, 0u, 31u, ~0u);
  ptx::multimem_st(ptx::sem_weak, all + 8 + threadIdx.x, ptx::prmt(others, first, is_there ? 0x5410u : 0x3210u));
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {  // the row
  }
  row[threadIdx.x + 128] = row[threadIdx.x] + row[threadIdx.x ^ 1] + before + lane;
  ptx::fence_proxy_async(ptx::space_shared);  // before the sum leaves
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * 128, row + 128, 512);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
  }
}
__global__ void __launch_bounds__(128) by_changed_map(float* out, const float* rows, uint8_t* maps) {
  __shared__ alignas(128) float tile[32][32];
  __shared__ alignas(128) uint8_t map[128];
  __shared__ alignas(8) uint64_t ready;
  uint8_t* own = maps + blockIdx.x * 128;
  map[threadIdx.x] = maps[threadIdx.x];
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&ready, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();  // the map is whole
  if (threadIdx.x < 32) {
    if (ptx::elect_sync(~0u)) {
      ptx::tensormap_replace_global_address(ptx::space_shared, map, reinterpret_cast<uint64_t>(rows));
      ptx::tensormap_replace_global_dim(ptx::space_shared, map, ptx::n32_t<0>{}, 32u);
    }
    __syncwarp();
    ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, own, map, ptx::n32_t<128>{});
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, own, ptx::n32_t<128>{});
  }
  if (threadIdx.x == 0) {
    const int32_t at[2] = {0, 0};
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &ready, sizeof(tile));
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, own, at, &ready);
  }
  while (!ptx::mbarrier_try_wait_parity(&ready, 0)) {  // the tile
  }
  out[threadIdx.x] = tile[threadIdx.x & 31][threadIdx.x >> 5];
}
void launch(float* p, unsigned* all, uint8_t* maps) {
  summed<<<4, 128>>>(p, p, all, 3);
  by_changed_map<<<4, 128>>>(p, p, maps);
}
