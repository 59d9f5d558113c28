// fault: "if (threadIdx.x == 0) for (int i" => "for (int i"
// fault: "    asm volatile(\"setmaxnreg.dec.sync.aligned.u32 40;\");" => "    if (threadIdx.x < 64) asm volatile(\"setmaxnreg.dec.sync.aligned.u32 40;\");"
// fault: "    asm volatile(\"setmaxnreg.inc.sync.aligned.u32 104;\");" => "    if (threadIdx.x >= 192) asm volatile(\"setmaxnreg.inc.sync.aligned.u32 104;\");"
// One thread copies, and groups of warps hand registers on.
#include <cstdint>
#include <cuda.h>
constexpr int DEPTH = 2, BYTES = 128 * 16 * 4;
__device__ __forceinline__ uint32_t place(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void make(uint64_t* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(b)), "r"(n)); }
__device__ __forceinline__ void arrive(uint64_t* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(b)) : "memory"); }
__device__ __forceinline__ void wait(uint64_t* b, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN_%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN_%=;\n}" ::"r"(place(b)), "r"(parity) : "memory");
}
__global__ void __launch_bounds__(256, 1) rows(const __grid_constant__ CUtensorMap map, float* out, int tiles) {
  __shared__ alignas(128) float tile[DEPTH][16][128];
  __shared__ uint64_t full[DEPTH], empty[DEPTH];
  if (threadIdx.x == 0) {
    for (int s = 0; s < DEPTH; ++s) make(&full[s], 1), make(&empty[s], 128);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) for (int i = 0; i < tiles; ++i) {
      const int s = i % DEPTH;
      wait(&empty[s], ((i / DEPTH) & 1) ^ 1);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(&full[s])), "r"(BYTES) : "memory");
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {0, %3}], [%2];" ::"r"(place(tile[s])), "l"(&map), "r"(place(&full[s])), "r"(i * 16) : "memory");
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 104;");
    float sum = 0;
    for (int i = 0; i < tiles; ++i) {
      const int s = i % DEPTH;
      wait(&full[s], (i / DEPTH) & 1);
      for (int r = 0; r < 16; ++r) sum += tile[s][r][threadIdx.x - 128];
      arrive(&empty[s]);
    }
    out[blockIdx.x * 128 + threadIdx.x - 128] = sum;
  }
}
