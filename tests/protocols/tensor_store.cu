// fault: "    asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n" => ""
// fault: "    if (threadIdx.x == 0) asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\");\n" => ""
// fault: "wait_group.read 0" => "wait_group.read 1"
// fault: "    __syncthreads();\n    tile" => "    tile"
// fault: "    __syncthreads();\n    if (threadIdx.x == 0) {" => "    if (threadIdx.x == 0) {"
// fault: "      asm volatile(\"cp.async.bulk.commit_group;\" ::: \"memory\");\n" => ""

#include <cstdint>
#include <cuda.h>

// Each round writes a tile and stores it as a tensor.
__global__ void __launch_bounds__(128) store(const __grid_constant__ CUtensorMap map, const float* in, int rounds) {
  extern __shared__ __align__(128) unsigned char raw[];
  float* tile = reinterpret_cast<float*>(raw);
  for (int i = 0; i < rounds; i++) {
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    __syncthreads();
    tile[threadIdx.x] = in[i * 128 + threadIdx.x] * 2.0f;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned smem = (unsigned)__cvta_generic_to_shared(tile);
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(0),
                   "r"(i), "r"(smem)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
