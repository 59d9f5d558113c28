// fault: "wait(sem[warpid()][s], (i / 3) & 1);" => "wait(sem[warpid()][s], ((i / 3) & 1) ^ 1);"
// fault: "    __syncwarp();\n    if (laneid() == 0 && i + 3 < n)" => "    if (laneid() == 0 && i + 3 < n)"
// fault: "    wait(sem[warpid()][s], (i / 3) & 1);\n" => ""
// fault: "if (laneid() == 0 && i + 3 < n) load(i + 3);" => "if (laneid() == 0 && i + 2 < n) load(i + 2);"
// fault: "tma::expect_bytes(sem[warpid()][k % 3], 256);" => "tma::expect_bytes(sem[warpid()][k % 3], 128);"
#include <cstdint>
namespace kit {
struct semaphore {
 private:
  uint64_t value;
};
__device__ static inline uint32_t saddr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ static inline int laneid() { return threadIdx.x & 0x1f; }
__device__ static inline int warpid() { return threadIdx.x >> 5; }
__device__ static inline void init_semaphore(semaphore& bar, int thread_count, int transaction_count = 0) {
  uint32_t bar_ptr = saddr(&bar);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(bar_ptr), "r"(thread_count + transaction_count));
}
__device__ static inline void arrive(semaphore& sem, uint32_t count = 1) {
  uint32_t mbar_ptr = saddr(&sem);
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;\n" : : "r"(mbar_ptr), "r"(count) : "memory");
}
__device__ static inline void wait(semaphore& sem, int kPhaseBit) {
  uint32_t mbar_ptr = saddr(&sem);
  asm volatile(
      "{\n"
      ".reg .pred                P1;\n"
      "LAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1                       bra.uni DONE;\n"
      "bra.uni                   LAB_WAIT;\n"
      "DONE:\n"
      "}\n" ::"r"(mbar_ptr), "r"(kPhaseBit));
}
namespace tma {
__device__ static inline void expect_bytes(semaphore& bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(saddr(&bar)), "r"(bytes));
}
__device__ static inline void load_vec_async(void* dst, const void* src, uint32_t bytes, semaphore& bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n"
               : : "r"(saddr(dst)), "l"(src), "r"(bytes), "r"(saddr(&bar)) : "memory");
}
}  // namespace tma
}  // namespace kit
using namespace kit;
// Each warp has a ring of its own.
__global__ __launch_bounds__(256) void rows(const float* in, float* out, int n) {
  __shared__ alignas(128) float row[8][3][64];
  __shared__ semaphore sem[8][3];
  if (laneid() == 0) {
    for (int k = 0; k < 3; k++) init_semaphore(sem[warpid()][k], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncwarp();
  const float* mine = in + (blockIdx.x * 8 + warpid()) * n * 64;
  auto load = [&](int k) {
    tma::expect_bytes(sem[warpid()][k % 3], 256);
    tma::load_vec_async(row[warpid()][k % 3], mine + k * 64, 256, sem[warpid()][k % 3]);
  };
  if (laneid() == 0) for (int k = 0; k < 3 && k < n; k++) load(k);
  float s = 0;
  for (int i = 0; i < n; i++) {
    const int s3 = i % 3, s = s3;
    wait(sem[warpid()][s], (i / 3) & 1);
    float a = row[warpid()][s][laneid()] + row[warpid()][s][laneid() + 32];
    out[((blockIdx.x * 8 + warpid()) * n + i) * 32 + laneid()] = a;
    __syncwarp();
    if (laneid() == 0 && i + 3 < n) load(i + 3);
  }
  (void)s;
}
