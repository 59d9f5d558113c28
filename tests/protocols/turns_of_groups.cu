// fault: "  if (group == 1) at.skip(pieces);\n" => ""
// fault: "    at.skip(pieces);  // of the other\n" => ""
// fault: "    at.skip(pieces);  // of the other\n" => "    at.skip(1);\n"
// Two groups take tiles in turn out of one ring: each leaves the pieces of the other's tile out.
#include <cstdint>
#include <cuda_runtime.h>
constexpr int kStages = 4, kBytes = 512;
struct Place {
  int index = 0;
  uint32_t phase = 0;
  __device__ void skip(int n) {
    index += n;
    phase ^= (index / kStages) & 1;
    index %= kStages;
  }
};
__device__ inline uint32_t at_shared(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ inline void wait(uint64_t* b, uint32_t phase) {
  asm volatile("{\n.reg .pred p;\nW:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(at_shared(b)), "r"(phase) : "memory");
}
__global__ void __launch_bounds__(288) turns(const char* in, int* out, int tiles, int pieces) {
  __shared__ alignas(128) char ring[kStages][kBytes];
  __shared__ uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at_shared(&full[i])));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(at_shared(&empty[i])));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int group = threadIdx.x / 128, tid = threadIdx.x % 128;
  Place at;
  if (group == 2) {
    if (tid != 0) return;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x)
      for (int k = 0; k < pieces; ++k, at.skip(1)) {
        wait(&empty[at.index], at.phase ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at_shared(&full[at.index])), "n"(kBytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     ::"r"(at_shared(ring[at.index])), "l"(in + ((long long)t * pieces + k) * kBytes), "n"(kBytes), "r"(at_shared(&full[at.index])) : "memory");
      }
    return;
  }
  if (group == 1) at.skip(pieces);
  if (group == 1) asm volatile("bar.arrive 1, 256;" ::: "memory");
  for (int t = blockIdx.x + group * gridDim.x; t < tiles; t += 2 * gridDim.x) {
    int sum = 0;
    asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory");
    for (int k = 0; k < pieces; ++k, at.skip(1)) {
      wait(&full[at.index], at.phase);
      sum += ring[at.index][tid * 4];
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at_shared(&empty[at.index])) : "memory");
    }
    asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory");
    at.skip(pieces);  // of the other
    out[t * 128 + tid] = sum;
  }
}
void run(const char* in, int* out, int tiles, int pieces) { turns<<<132, 288>>>(in, out, tiles, pieces); }
