// fault: "(rank + 1) % BLOCKS;" => "rank + 1;"
// fault: "  meet(); // all are ready\n" => ""
// fault: "expect(&came, 128 * 4);" => "expect(&came, 128 * 8);"
// Each block of a cluster hands a row to the next one.
#include <cstdint>
constexpr int BLOCKS = 4;
__device__ __forceinline__ uint32_t place(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ uint32_t theirs(const void* p, uint32_t rank) {
  uint32_t at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(place(p)), "r"(rank));
  return at;
}
__device__ __forceinline__ void expect(uint64_t* b, uint32_t n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void wait(uint64_t* b, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN_%=:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN_%=;\n}" ::"r"(place(b)), "r"(parity) : "memory");
}
__device__ __forceinline__ void meet() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(128) hand_on(const float* in, float* out) {
  __shared__ alignas(16) float row[128];
  __shared__ uint64_t came;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const uint32_t next = (rank + 1) % BLOCKS;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&came)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    expect(&came, 128 * 4);
  }
  meet(); // all are ready
  float v = in[blockIdx.x * 128 + threadIdx.x];
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(theirs(row + threadIdx.x, next)), "f"(v), "r"(theirs(&came, next)) : "memory");
  wait(&came, 0);
  out[blockIdx.x * 128 + threadIdx.x] = v + row[threadIdx.x];
}
