// fault: "  if (threadIdx.x == 0 && tiles > 0) load(&full[0], tile[0], in, true);" => "  if (threadIdx.x == 0 && tiles > 0) load(&full[0], tile[0], in, false);"
// fault: "  __syncthreads();  // objects are made\n" => "  __syncwarp();\n"
// fault: "      __syncthreads();  // the tile is used up\n" => "      __syncwarp();\n"
#include <cstdint>

__device__ __forceinline__ uint32_t at(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void load(uint64_t* b, float* to, const float* from, bool expects) {
  if (expects) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(at(b)) : "memory");
  else asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(at(to)), "l"(from), "r"(at(b)) : "memory");
}

// Tiles are loaded one round ahead, the first one before the rounds.
__global__ void __launch_bounds__(256) scale_tiles(const float* in, float* out, int tiles) {
  __shared__ alignas(128) float tile[2][256];
  __shared__ alignas(8) uint64_t full[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[i])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }


  __syncthreads();  // objects are made



  // The first one.

  if (threadIdx.x == 0 && tiles > 0) load(&full[0], tile[0], in, true);


  for (int t = 0; t < tiles; ++t) {
    const int slot = t & 1;
    if (threadIdx.x == 0 && t + 1 < tiles) load(&full[slot ^ 1], tile[slot ^ 1], in + (t + 1) * 256, true);
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(at(&full[slot])), "r"(t >> 1 & 1) : "memory");
    const float v = tile[slot][255 - threadIdx.x];
    out[t * 256 + threadIdx.x] = 2.f * v;
    if (t + 1 < tiles) {
      __syncthreads();  // the tile is used up
    }
  }
}
