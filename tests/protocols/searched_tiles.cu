// fault: "init_bar(free_ + 8 * s, SEARCHERS);" => "init_bar(free_ + 8 * s, SEARCHERS - 1);"
// fault: "parity ^= 1u << s; // searched" => "parity ^= 1u; // searched"
// fault: "      wait_bar(ready + 8 * s, parity >> s & 1);\n" => ""
// fault: "      if (lane == 0) arrive_bar(free_ + 8 * s);\n" => ""
// Each warp searches all of a tile for its key; what it finds chooses a counter in shared memory, so that the search is followed, and
// is far too long to be followed to its end.
#include <cstdint>
enum { TILE = 512, STAGES = 2, SEARCHERS = 8 };
struct Entry { unsigned low, high, tag, kind; };
static __device__ __forceinline__ uint32_t place(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
static __device__ __forceinline__ void init_bar(uint32_t b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(n) : "memory"); }
static __device__ __forceinline__ void arrive_bar(uint32_t b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory"); }
static __device__ __forceinline__ void wait_bar(uint32_t b, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN_%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN_%=;\n}" ::"r"(b), "r"(parity) : "memory");
}
__global__ void __launch_bounds__(32 * (SEARCHERS + 1)) search(const Entry* entries, int tiles, const unsigned* keys, unsigned* hits) {
  __shared__ alignas(128) Entry ring[STAGES][TILE];
  __shared__ alignas(8) unsigned long long bars[2 * STAGES];
  __shared__ unsigned counts[4];
  const uint32_t ready = place(bars), free_ = ready + 8 * STAGES;
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (threadIdx.x < 4) counts[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      init_bar(ready + 8 * s, 1);
      init_bar(free_ + 8 * s, SEARCHERS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  uint32_t parity = 0;
  int s = 0;
  if (warp == SEARCHERS) {
    if (lane == 0) for (int k = tiles - 1; k >= 0; --k) {
      wait_bar(free_ + 8 * s, ~parity >> s & 1);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(ready + 8 * s), "r"((int)sizeof(ring[0])) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(ring[s])), "l"(entries + (size_t)k * TILE), "r"((int)sizeof(ring[0])), "r"(ready + 8 * s) : "memory");
      parity ^= 1u << s; // filled
      if (++s == STAGES) s = 0;
    }
  } else {
    const unsigned key = keys[threadIdx.x];
    unsigned kind = 0;
    for (int k = tiles - 1; k >= 0; --k) {
      wait_bar(ready + 8 * s, parity >> s & 1);
      for (int i = TILE - 1; i >= 0; --i) {
        const Entry& e = ring[s][i];
        if (key >= e.low && key <= e.high && (e.tag == 0 || e.tag == key)) kind = e.kind & 3;
      }
      __syncwarp();
      if (lane == 0) arrive_bar(free_ + 8 * s);
      parity ^= 1u << s; // searched
      if (++s == STAGES) s = 0;
    }
    atomicAdd(&counts[kind], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(&hits[threadIdx.x], counts[threadIdx.x]);
}
