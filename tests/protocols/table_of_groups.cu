// fault: "    wait(&full, i & 1);\n    for" => "    wait(&full, 0);\n    for"
// fault: "    __syncthreads(); // read\n" => ""
#include <cstdint>
// A table of as many groups as the kernel is made for: a launch with more of them leaves it.
constexpr int kMost = 32;
__device__ inline uint32_t sa(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ inline void init(uint64_t* b, int n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sa(b)), "r"(n) : "memory");
}
__device__ inline void expect(uint64_t* b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sa(b)), "r"(bytes) : "memory");
}
__device__ inline void copy(void* to, const void* from, int bytes, uint64_t* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(sa(to)),
               "l"(from), "r"(bytes), "r"(sa(b)) : "memory");
}
__device__ inline void wait(uint64_t* b, int parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(sa(b)),
               "r"(parity) : "memory");
}
__global__ void __launch_bounds__(128) groups(const float* in, const int* ends, float* out, int count) {
  __shared__ int starts[kMost], sizes[kMost], tiles[kMost], firsts[kMost];
  __shared__ alignas(128) float rows[1024];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    int before = 0;
    for (int g = 0; g < count; g++) {
      const int end = ends[g];
      const int padded = (end + 127) / 128 * 128;
      starts[g] = before;
      sizes[g] = padded;
      tiles[g] = (padded + 63) / 64 * ((end + 31) / 32);
      firsts[g] = (before + 63) / 64 * ((before + 31) / 32) + padded / 16 % 5;
      before += padded;
    }
  }
  if (threadIdx.x == 0) {
    init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  float sum = 0;
  const int rounds = (tiles[1] + firsts[1]) % 16 + 8;
  for (int i = 0; i < rounds; i++) {
    if (threadIdx.x == 0) {
      const int at = i;
      expect(&full, 4096);
      copy(rows, in + at * 1024, 4096, &full);
    }
    wait(&full, i & 1);
    for (int k = 0; k < 8; k++) sum += rows[threadIdx.x + 128 * k] * sizes[0];
    __syncthreads(); // read
  }
  out[threadIdx.x] = sum + starts[0] + tiles[0] + firsts[0];
}
