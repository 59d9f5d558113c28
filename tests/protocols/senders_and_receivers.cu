// fault: "expect(&full, ROW * 4);" => "expect(&full, ROW);"
// fault: "ld.acquire.gpu.global.u32" => "ld.relaxed.gpu.global.u32"
// fault: "      asm volatile(\"fence.proxy.async;\" ::: \"memory\");\n" => ""
// A parameter says how many blocks send; the others copy what was sent.
#include <cstdint>
constexpr int ROW = 1024;
__device__ __forceinline__ uint32_t place(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ unsigned look(const unsigned* p) {
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void expect(uint64_t* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void wait(uint64_t* b, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN_%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN_%=;\n}" ::"r"(place(b)), "r"(parity) : "memory");
}
__global__ void __launch_bounds__(128) pass_on(const float* in, float* buffer, unsigned* sent, float* out, int rows, int senders) {
  __shared__ alignas(128) float row[ROW];
  __shared__ uint64_t full;
  if (blockIdx.x < senders) {
    for (int t = blockIdx.x; t < rows; t += senders) {
      for (int i = threadIdx.x; i < ROW; i += 128) buffer[t * ROW + i] = in[t * ROW + i];
      __syncthreads();
      if (threadIdx.x == 0) asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(sent + t) : "memory");
    }
    return;
  }
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  uint32_t parity = 0;
  for (int t = blockIdx.x - senders; t < rows; t += gridDim.x - senders) {
    if (threadIdx.x == 0) {
      while (look(sent + t) == 0) {}
      asm volatile("fence.proxy.async;" ::: "memory");
      expect(&full, ROW * 4);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(row)), "l"(buffer + t * ROW), "r"(ROW * 4), "r"(place(&full)) : "memory");
    }
    wait(&full, parity);
    parity ^= 1;
    for (int i = threadIdx.x; i < ROW; i += 128) out[t * ROW + i] = row[ROW - 1 - i];
    __syncthreads();
  }
}
