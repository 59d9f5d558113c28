// fault: "constexpr uint32_t kTile = kRows * kColumns * sizeof(float);" => "constexpr uint32_t kTile = kRows * kRows * sizeof(float);"
// fault: "constexpr int kReaders = 4;" => "constexpr int kReaders = 128;"
// fault: "constexpr int kSumming = 128;" => "constexpr int kSumming = 160;"
#include <cstdint>

constexpr int kRows = 16, kColumns = 64;

constexpr uint32_t kTile = kRows * kColumns * sizeof(float);


constexpr int kReaders = 4;


enum { kSums = 1, kWeights = 2 };


constexpr int kSumming = 128;


__device__ __forceinline__ uint32_t in_shared(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void make(uint64_t* b, uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(in_shared(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void expect(uint64_t* b, uint32_t n) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(in_shared(b)), "r"(n) : "memory");
}
__device__ __forceinline__ void arrive(uint64_t* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(in_shared(b)) : "memory"); }
__device__ __forceinline__ void wait(uint64_t* b, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(in_shared(b)), "r"(parity) : "memory");
}
__device__ __forceinline__ void meet(int id, int n) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }

// One warp loads tiles, four warps sum up their columns.
__global__ void __launch_bounds__(160) columns(const float* in, const float* weights, float* out, int tiles) {
  __shared__ alignas(128) float tile[kRows * kColumns];
  __shared__ float sums[kSumming], w[kSumming + 32];
  __shared__ alignas(8) uint64_t full, empty;
  if (threadIdx.x == 0) {
    make(&full, 1);
    make(&empty, kReaders);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  w[threadIdx.x] = weights[threadIdx.x];
  meet(kWeights, 160);
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128) {
      for (int t = 0; t < tiles; ++t) {
        wait(&empty, (t & 1) ^ 1);
        expect(&full, kTile);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" ::"r"(in_shared(tile)),
                     "l"(in + t * kRows * kColumns), "r"(in_shared(&full)) : "memory");
      }
    }
  } else {
    float sum = 0.f;
    for (int t = 0; t < tiles; ++t) {
      wait(&full, t & 1);
      for (int r = 0; r < kRows; r += 2) sum += tile[(r + threadIdx.x / 64) * kColumns + threadIdx.x % 64];
      __syncwarp();
      if (threadIdx.x % 32 == 0) arrive(&empty);
    }
    sums[threadIdx.x] = sum * w[threadIdx.x ^ 32];
    meet(kSums, kSumming);
    if (threadIdx.x < 64) out[threadIdx.x] = sums[threadIdx.x] + sums[threadIdx.x + 64];
  }
}
