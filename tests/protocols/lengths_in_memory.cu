// fault: "      wait(at(&empty[i % 3]), i / 3 & 1 ^ 1);\n" => ""
// fault: "      if (threadIdx.x % 32 == 0) arrive(at(&empty[i % 3]));\n" => ""
// fault: "init(at(&empty[i]), 4);" => "init(at(&empty[i]), 5);"
// How many rounds there are only memory tells: few of them show nothing of a ring.
#include <cuda_runtime.h>
#include <cstdint>

struct Lists { const float* values; const int* lengths; int width; };

static __device__ uint32_t at(const void* of) { return (uint32_t)__cvta_generic_to_shared(of); }
static __device__ void init(uint32_t object, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(object), "r"(count) : "memory");
}
static __device__ void arrive(uint32_t object) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(object) : "memory");
}
static __device__ void wait(uint32_t object, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(object), "r"(parity) : "memory");
  } while (!done);
}

__global__ void __launch_bounds__(160) sums(Lists lists, float* out) {
  __shared__ alignas(16) float rows[3][512];
  __shared__ uint64_t full[3], empty[3];
  if (threadIdx.x == 0)
    for (int i = 0; i < 3; ++i) {
      init(at(&full[i]), 1);
      init(at(&empty[i]), 4);
    }
  __syncthreads();
  const int n = (lists.lengths[blockIdx.x] + 15) / 16;
  if (threadIdx.x >= 128) {
    if (threadIdx.x > 128) return;
    for (int i = 0; i < n; ++i) {
      wait(at(&empty[i % 3]), i / 3 & 1 ^ 1);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(at(&full[i % 3])) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];"
                   ::"r"(at(rows[i % 3])), "l"(lists.values + (blockIdx.x * lists.width + i) * 512), "r"(at(&full[i % 3])) : "memory");
    }
  } else {
    float sum = 0.f;
    for (int i = 0; i < n; ++i) {
      wait(at(&full[i % 3]), i / 3 & 1);
      for (int k = threadIdx.x; k < 512; k += 128) sum += rows[i % 3][k];
      __syncwarp();
      if (threadIdx.x % 32 == 0) arrive(at(&empty[i % 3]));
    }
    atomicAdd(out + blockIdx.x, sum);
  }
}
