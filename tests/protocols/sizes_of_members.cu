// fault: "co_wait(st.full + s, ph);" => ""
// fault: "ph ^= (s == 0);" => ""
#include <cstdint>
#define DEV [[gnu::always_inline]] __device__ static inline
DEV auto saddr(auto* p) -> uint32_t { return uint32_t(__cvta_generic_to_shared(p)); }
DEV void co_wait(uint64_t* b, uint32_t p) { for (;;) { uint32_t d; asm volatile("{\n .reg .pred p; \n mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2, 0x989680;\n selp.b32 %0, 1, 0, p; \n}" : "=r"(d) : "r"(saddr(b)), "r"(p) : "memory"); if (d) [[likely]] break; } }
struct Storage { alignas(1024) uint8_t a[2][2048]; alignas(8) uint64_t full[2]; };
__global__ void __launch_bounds__(128, 1) k(const uint8_t* __restrict__ in, uint8_t* __restrict__ out, const int n) {
  extern __shared__ __align__(1024) unsigned char raw[];
  auto& st = *reinterpret_cast<Storage*>(raw);
  if (threadIdx.x == 0) { for (auto& b : st.full) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(saddr(&b)), "n"(1)); asm volatile("fence.proxy.async.shared::cta;"); }
  __syncthreads();
  auto issue = [&, leader = threadIdx.x == 0](int t) { if (!leader) return; int s = t % 2; asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(saddr(&st.full[s])), "r"((uint32_t)sizeof st.a[0])); asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(saddr(st.a[s])), "l"(in + t * 2048ull), "r"((uint32_t)sizeof(Storage::a) / 2), "r"(saddr(&st.full[s])) : "memory"); };
  issue(0);
  for (uint32_t t = 0, s = 0, ph = 0; t < n; ++t) {
    if (t + 1 < n) issue(t + 1);
    co_wait(st.full + s, ph);
    for (int i = threadIdx.x; i < 2048; i += 128) out[t * 2048 + i] = st.a[s][i];
    __syncthreads();
    s ^= 1; ph ^= (s == 0);
  }
}
