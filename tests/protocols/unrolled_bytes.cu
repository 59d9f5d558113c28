// fault: "expect(&full[s], A_BYTES + B_BYTES);" => "expect(&full[s], B_BYTES);"
// fault: "expect(&full[s], A_BYTES + B_BYTES);" => "expect(&full[s], A_BYTES + 2 * B_BYTES);"
// fault: "      wait(&empty[s], (round & 1) ^ 1);\n" => ""
// A ring that is unrolled: each stage has instructions of its own, and there are more rounds than are executed.
#include <cstdint>
#include <cuda.h>
constexpr int STAGES = 4, A_BYTES = 8192, B_BYTES = 2048;
__device__ __forceinline__ uint32_t place(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void make(uint64_t* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(b)), "r"(n)); }
__device__ __forceinline__ void arrive(uint64_t* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(b)) : "memory"); }
__device__ __forceinline__ void expect(uint64_t* b, uint32_t n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void wait(uint64_t* b, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN_%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN_%=;\n}" ::"r"(place(b)), "r"(parity) : "memory");
}
__device__ __forceinline__ void fetch(void* to, const CUtensorMap* map, uint64_t* b, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(place(to)), "l"(map), "r"(place(b)), "r"(x), "r"(y) : "memory");
}
__global__ void __launch_bounds__(160, 1) sums(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* out, int tiles, int rounds) {
  extern __shared__ __align__(1024) uint8_t memory[];
  uint8_t* first = memory;
  uint8_t* second = memory + STAGES * A_BYTES;
  uint64_t* full = reinterpret_cast<uint64_t*>(second + STAGES * B_BYTES);
  uint64_t* empty = full + STAGES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) make(&full[s], 1), make(&empty[s], 128);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    int round = 0;
    if (threadIdx.x == 128) for (int t = blockIdx.x; t < tiles; t += gridDim.x) for (int r = 0; r < rounds; ++r, ++round) {
#pragma unroll
      for (int s = 0; s < STAGES; ++s) {
      wait(&empty[s], (round & 1) ^ 1);
      fetch(first + s * A_BYTES, &a, &full[s], r * STAGES + s, t);
      fetch(second + s * B_BYTES, &b, &full[s], r * STAGES + s, t);
      expect(&full[s], A_BYTES + B_BYTES);
      }
    }
  } else {
    int round = 0;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
      float sum = 0;
      for (int r = 0; r < rounds; ++r, ++round) {
#pragma unroll
        for (int s = 0; s < STAGES; ++s) {
          wait(&full[s], round & 1);
          sum += reinterpret_cast<float*>(first + s * A_BYTES)[threadIdx.x] + reinterpret_cast<float*>(second + s * B_BYTES)[threadIdx.x];
          arrive(&empty[s]);
        }
      }
      out[t * 128 + threadIdx.x] = sum;
    }
  }
}
