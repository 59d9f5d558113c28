// fault: "st.phase ^= 1;" => "st.phase ^= 0;"
// fault: "if (++st.idx == 3)" => "if (++st.idx == 4)"
#include <cstdint>
struct State { uint32_t idx : 4; uint32_t phase : 1; uint32_t : 27; };
__device__ void adv(State& st) { if (++st.idx == 3) { st.idx = 0; st.phase ^= 1; } }
__device__ uint32_t S(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ bool tryw(uint64_t* b, uint32_t p) { int r; asm volatile("{\n\t.reg .pred q;\n\tmbarrier.try_wait.parity.shared.b64 q, [%1], %2;\n\tselp.u32 %0,1,0,q;\n\t}" : "=r"(r) : "r"(S(b)), "r"(p)); return r; }
__global__ void __launch_bounds__(64) k(const char* g, char* o, int n) {
  __shared__ alignas(128) char buf[3][4096]; __shared__ uint64_t full[3], free_[3];
  if (threadIdx.x == 0) { for (auto& b : full) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(S(&b))); for (auto& b : free_) asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(S(&b))); asm volatile("fence.mbarrier_init.release.cluster;"); }
  __syncthreads();
  State st{};
  if (threadIdx.x >= 32) { if (threadIdx.x == 32) for (int i = 0; i < n; ++i, adv(st)) { while (!tryw(&free_[st.idx], st.phase ^ 1)); asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4096;" :: "r"(S(&full[st.idx]))); asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(S(buf[st.idx])), "l"(g + i * 4096), "r"(4096), "r"(S(&full[st.idx])) : "memory"); } }
  else for (int i = 0; i < n; ++i, adv(st)) { while (!tryw(&full[st.idx], st.phase)); o[i * 32 + threadIdx.x] = buf[st.idx][threadIdx.x]; asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(S(&free_[st.idx]))); }
}
