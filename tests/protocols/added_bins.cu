// fault: "  ptx::fence_proxy_async(ptx::space_shared);\n" => ""
// fault: "  __syncthreads();  // all have counted\n" => ""
// fault: "    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());\n" => ""
// What the block has counted is added to global memory by a reduction in bulk.
#include <cuda/ptx>
namespace ptx = cuda::ptx;
__global__ void __launch_bounds__(128) count(const unsigned char* in, unsigned* all, int rounds) {
  __shared__ alignas(16) unsigned bins[256];
  for (int round = 0; round < rounds; ++round) {
    for (int i = threadIdx.x; i < 256; i += 128) bins[i] = 0;
    __syncthreads();
    atomicAdd(&bins[in[round * 128 + threadIdx.x]], 1u);
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();  // all have counted
    if (threadIdx.x == 0) {
      ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, all, bins, sizeof(bins));
      ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    __syncthreads();
  }
}
