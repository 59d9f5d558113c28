// fault: "fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" => "fence.proxy.async;"
// fault: "fence.proxy.tensormap::generic.release.gpu;" => "fence.acq_rel.gpu;"
// fault: "  acquire(map);\n" => ""
#include <cstdint>
#include <cuda.h>

__device__ __forceinline__ void release() {
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}


__device__ __forceinline__ void acquire(const CUtensorMap* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}


// One warp of each block stores a tile by a map of which it changes the address before.
__global__ void __launch_bounds__(32) store_by_own_map(CUtensorMap* maps, float* const* to, const float* in) {
  __shared__ alignas(128) float tile[256];
  CUtensorMap* map = maps + blockIdx.x;
  for (int i = threadIdx.x; i < 256; i += 32) tile[i] = in[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (threadIdx.x != 0) return;
  asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(map), "l"(to[blockIdx.x]) : "memory");
  release();
  acquire(map);
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(0), "r"(0),
               "r"(uint32_t(__cvta_generic_to_shared(tile))) : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}
