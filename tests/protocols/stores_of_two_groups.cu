// fault: "    if (lane == 0) asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\");\n" => ""
// fault: "    asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n" => ""
// fault: "    meet(3 + group);\n" => ""
// fault: "    meet(1 + group);\n" => ""
// Two groups store tiles that lie next to each other: the first store comes when nobody knows where the second begins.
#include <cuda.h>
#include <cstdint>
__device__ uint32_t place_of(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void meet(int id) { asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory"); }
__global__ void __launch_bounds__(256) tiles(const __grid_constant__ CUtensorMap map, const float* in, int n) {
  __shared__ alignas(1024) float tile[2][2048];
  const int group = threadIdx.x / 128;
  const int lane = threadIdx.x % 128;
  for (int t = blockIdx.x; t < n; t += gridDim.x) {
    if (lane == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    meet(3 + group);
    for (int i = 0; i < 16; ++i) tile[group][i * 128 + lane] = in[(t * 16 + i) * 128 + lane];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    meet(1 + group);
    if (lane == 0) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(0),
                   "r"(t * 2 + group), "r"(place_of(tile[group]))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;");
    }
  }
  if (lane == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
