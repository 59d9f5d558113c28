// fault: "mbar_wait(bar(kFull, s), ph);" => ""
// fault: "mbar_wait(bar(kEmpty, s), ph ^ 1);" => ""
// fault: "[%0], 64;\"" => "[%0], 65;\""
#include <cstdint>
struct Lay { static constexpr uint32_t kStages = 2, kTileBytes = 256; static constexpr uint32_t kTiles = 0; static constexpr uint32_t kFull = kTiles + kStages * kTileBytes; static constexpr uint32_t kEmpty = kFull + kStages * 8; static constexpr uint32_t kTotal = kEmpty + kStages * 8; };
__device__ void mbar_wait(uint32_t b, uint32_t p) { asm volatile("{\n.reg .pred P;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 P, [%0], %1;\n@P bra OUT;\nbra AGAIN;\nOUT:\n}" :: "r"(b), "r"(p) : "memory"); }
struct Ctx : Lay { uint32_t base; __device__ uint32_t bar(uint32_t kind, uint32_t s) const { return base + kind + s * 8; } __device__ uint32_t tile(uint32_t s) const { return base + kTiles + s * kTileBytes; }
 __device__ void init() const { for (uint32_t s = 0; s < kStages; ++s) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar(kFull, s))); asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" :: "r"(bar(kEmpty, s))); } asm volatile("fence.mbarrier_init.release.cluster;"); }
 __device__ void produce(const float* g, int n) const { for (int t = 0; t < n; ++t) { uint32_t s = t % kStages, ph = (t / kStages) & 1; mbar_wait(bar(kEmpty, s), ph ^ 1); asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar(kFull, s)), "r"(kTileBytes)); asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(tile(s)), "l"(g + t * 64), "r"(kTileBytes), "r"(bar(kFull, s)) : "memory"); } }
 __device__ void consume(float* o, int n, int l) const { for (int t = 0; t < n; ++t) { uint32_t s = t % kStages, ph = (t / kStages) & 1; mbar_wait(bar(kFull, s), ph); float v; asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(tile(s) + l * 4)); o[t * 64 + l] = v; asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar(kEmpty, s)) : "memory"); } } };
__global__ void __launch_bounds__(96) k(const float* g, float* o, int n) { extern __shared__ __align__(1024) char sm[]; Ctx c{{}, (uint32_t)__cvta_generic_to_shared(sm)}; if (threadIdx.x == 0) c.init(); __syncthreads(); if (threadIdx.x < 64) c.consume(o, n, threadIdx.x); else if (threadIdx.x == 64) c.produce(g, n); }
void launch(const float* g, float* o) { k<<<1, 96, Lay::kTotal>>>(g, o, 12); }
