// fault: "    tm_acquire(gmap);\n" => ""
// fault: "tm_release_copy(gmap, smem_map);" => "for (int i = 0; i < 16; i++) ((uint64_t*)gmap)[i] = smem_map[i];"
// fault: "bar_expect(&bar, kBox);" => "bar_expect(&bar, 2 * kBox);"
// fault: "    bar_wait(&bar, phase);\n" => ""
// fault: "    phase ^= 1;\n" => ""
#include <cuda.h>
#include <cstdint>
constexpr int kBox = 64 * 64;
__device__ uint32_t u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void bar_expect(uint64_t* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(u(b)), "r"(n) : "memory"); }
__device__ void bar_wait(uint64_t* b, int ph) {
  asm volatile("{\n.reg .pred ok;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 ok, [%0], %1;\n@!ok bra AGAIN;\n}" ::"r"(u(b)), "r"(ph) : "memory");
}
__device__ void tm_replace(void* sm, const void* g) { asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(u(sm)), "l"(g) : "memory"); }
__device__ void tm_release_copy(void* g, void* s) {
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(g), "r"(u(s)) : "memory");
}
__device__ void tm_acquire(const void* g) { asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(g) : "memory"); }
__global__ void __launch_bounds__(128) grouped(const __grid_constant__ CUtensorMap base, char* maps, const char** groups, int n_groups, int* out) {
  __shared__ alignas(128) uint64_t smem_map[16];
  __shared__ alignas(128) char tile[kBox];
  __shared__ uint64_t bar;
  char* gmap = maps + blockIdx.x * 128;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(u(&bar)));
    asm volatile("fence.mbarrier_init.release.cluster;");
    for (int i = 0; i < 16; i++) smem_map[i] = reinterpret_cast<const uint64_t*>(&base)[i];
  }
  __syncthreads();
  int phase = 0, sum = 0;
  for (int g = blockIdx.x; g < n_groups; g += gridDim.x) {
    if (threadIdx.x < 32) {
      if (threadIdx.x == 0) tm_replace(smem_map, groups[g]);
      __syncwarp();
      tm_release_copy(gmap, smem_map);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      bar_expect(&bar, kBox);
    tm_acquire(gmap);
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(u(tile)), "l"(gmap), "r"(u(&bar)), "r"(0), "r"(0) : "memory");
    }
    bar_wait(&bar, phase);
    phase ^= 1;
    for (int i = threadIdx.x; i < kBox; i += 128) sum += tile[i];
    __syncthreads();
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}
