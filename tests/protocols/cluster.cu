// fault: "  cluster_sync();\n  if (threadIdx.x == 0) out" => "  if (threadIdx.x == 0) out"
// fault: "  cluster_sync();\n  remote" => "  remote"

#include <cstdint>
#include <cuda.h>

namespace {
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ uint32_t peer(const void* p, uint32_t rank) {
  uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(p)), there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ __forceinline__ uint32_t block_rank() {
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ void remote_store(uint32_t address, uint32_t value) {
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
}  // namespace

// Each block writes into the memory of the other one.
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64) neighbours(uint32_t* out) {
  __shared__ uint32_t inbox[64];
  cluster_sync();
  remote_store(peer(&inbox[threadIdx.x], block_rank() ^ 1), threadIdx.x);
  cluster_sync();
  if (threadIdx.x == 0) out[blockIdx.x] = inbox[1];
}
