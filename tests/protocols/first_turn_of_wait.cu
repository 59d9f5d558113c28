// fault: "    wait(full[i & 1], i >> 1 & 1);  // the row is there\n" => ""
// A wait that asks its variable before it has tried once, and rows that lie beside what is read next, in a kernel of more
// rounds than anybody executes.
#include <cuda_runtime.h>
#include <cstdint>

struct Work {
  alignas(16) float rows[2][2048];
  float part[2][8];
  uint64_t full[2];
};

static __device__ uint32_t at(const void* of) { return (uint32_t)__cvta_generic_to_shared(of); }
static __device__ void wait(uint64_t& object, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(at(&object)), "r"(parity) : "memory");
}
static __device__ void fetch(Work& work, int slot, const float* from) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&work.full[slot])), "r"(8192) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(at(work.rows[slot])), "l"(from), "r"(8192), "r"(at(&work.full[slot])) : "memory");
}

__global__ void __launch_bounds__(256) sums(const float* in, float* out, int n) {
  __shared__ Work work;
  uint64_t* full = work.full;
  const int tid = threadIdx.x;
  if (tid == 0)
    for (int i = 0; i < 2; ++i)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[i])) : "memory");
  __syncthreads();
  if (tid == 0) fetch(work, 0, in);
  for (int i = 0; i < n; ++i) {
    wait(full[i & 1], i >> 1 & 1);  // the row is there
    float sum = 0.f;
    for (int turn = 0; turn < 600; ++turn)
      for (int k = tid; k < 2048; k += 256) sum += work.rows[i & 1][k];
    for (int by = 16; by > 0; by >>= 1) sum += __shfl_xor_sync(~0u, sum, by);
    if (tid % 32 == 0) work.part[i & 1][tid / 32] = sum;
    __syncthreads();
    if (tid == 0 && i + 1 < n) fetch(work, (i + 1) & 1, in + (i + 1) * 2048);
    float all = 0.f;
    for (int w = 0; w < 8; ++w) all += work.part[i & 1][w];
    if (tid == 0) out[i] = all;
  }
}
