// fault: "update_phasebit<1>(bits, ring);" => ";"
// fault: "      update_phasebit<0>(bits, ring);\n" => ""
// fault: "uint32_t bits = 0xFFFF0000;" => "uint32_t bits = 0;"
// fault: "init_semaphore(inputs_finished[i], 0, 4);" => "init_semaphore(inputs_finished[i], 0, 1);"
// fault: "tma::expect_bytes(inputs_arrived[ring], sizeof(stage_t));" => "tma::expect_bytes(inputs_arrived[ring], sizeof(stage_t) - 16);"
// fault: "      wait(inputs_arrived[ring], get_phasebit<0>(bits, ring));\n" => ""
// fault: "      if (laneid() == 0) arrive(inputs_finished[ring]);\n" => "      if (laneid() < 2) arrive(inputs_finished[ring]);\n"
// fault: "  __syncthreads();\n  uint32_t bits" => "  uint32_t bits"
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
template <int half> __device__ static inline int get_phasebit(uint32_t bitfield, int ring_id) { return (bitfield & (1 << (half * 16 + ring_id))) >> (half * 16 + ring_id); }
template <int half> __device__ static inline void update_phasebit(uint32_t& bitfield, int ring_id) { bitfield ^= (1 << (half * 16 + ring_id)); }
template <int N> __device__ static inline int ring_advance(int ring, int distance = 1) { return (ring + distance) % N; }
}  // namespace kit
using namespace kit;
struct stage_t { float x[512]; float y[512]; };
constexpr int PIPE = 5;
__global__ __launch_bounds__(160) void lcf(const float* gx, const float* gy, float* out, int iters) {
  extern __shared__ __align__(128) int __shm[];
  stage_t (&stages)[PIPE] = *reinterpret_cast<stage_t (*)[PIPE]>(__shm);
  __shared__ semaphore inputs_arrived[PIPE], inputs_finished[PIPE];
  if (threadIdx.x == 0) {
    for (int i = 0; i < PIPE; i++) {
      init_semaphore(inputs_arrived[i], 0, 1);
      init_semaphore(inputs_finished[i], 0, 4);
    }
  }
  __syncthreads();
  uint32_t bits = 0xFFFF0000;
  int ring = 0;
  if (warpid() == 4) {
    if (laneid() == 0) for (int t = 0; t < iters; t++) {
      wait(inputs_finished[ring], get_phasebit<1>(bits, ring));
      update_phasebit<1>(bits, ring);
      tma::expect_bytes(inputs_arrived[ring], sizeof(stage_t));
      tma::load_vec_async(stages[ring].x, gx + t * 512, sizeof(stages[0].x), inputs_arrived[ring]);
      tma::load_vec_async(stages[ring].y, gy + t * 512, sizeof(stages[0].y), inputs_arrived[ring]);
      ring = ring_advance<PIPE>(ring);
    }
  } else {
    float s = 0;
    for (int t = 0; t < iters; t++) {
      wait(inputs_arrived[ring], get_phasebit<0>(bits, ring));
      update_phasebit<0>(bits, ring);
      for (int i = threadIdx.x; i < 512; i += 128) s += stages[ring].x[i] * stages[ring].y[i];
      __syncwarp();
      if (laneid() == 0) arrive(inputs_finished[ring]);
      ring = ring_advance<PIPE>(ring);
    }
    out[threadIdx.x] = s;
  }
}
