// fault: "asm volatile(\"fence.proxy.async.shared::cta;\"" => "asm volatile(\"fence.proxy.async.global;\""
// A fence in a wrapper is of the wrong memory: the instruction is told, and not only where it is called.
#include <cstdint>
__device__ uint32_t place_of(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ void fence_stores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ void store_row(float* to, const float* from) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(to), "r"(place_of(from)) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void __launch_bounds__(256) row_of(const float* in, float* out) {
  __shared__ alignas(128) float row[256];
  row[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x] * 2.f;
  fence_stores();
  __syncthreads();
  if (threadIdx.x == 0) store_row(out + blockIdx.x * 256, row);
}
