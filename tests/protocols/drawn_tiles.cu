// fault: "        tile_full.wait(phase);\n        int t = next_tile;\n        tile_empty.arrive();\n" => "        int t = next_tile;\n        tile_full.wait(phase);\n        tile_empty.arrive();\n"
// fault: "tile_empty.init(128 + 1);" => "tile_empty.init(128);"
// fault: "        tile_empty.arrive();\n        if (t >= total) break;" => "        if (t >= total) break;"
// fault: "      tile_empty.wait(phase ^ 1);\n" => ""
// fault: "      tile_full.arrive();\n" => ""
// fault: "buf_full[s].arrive_and_expect_tx(sizeof(buf[0]));" => "buf_full[s].arrive_and_expect_tx(sizeof(float));"
// fault: "        buf_empty[s].arrive();\n" => ""
#include <cstdint>
namespace arch {
__device__ inline uint32_t cast_smem_ptr_to_uint(void const* const ptr) { return static_cast<uint32_t>(__cvta_generic_to_shared(ptr)); }
struct ClusterBarrier {
  using ValueType = uint64_t;
  ValueType barrier_;
  __device__ void init(uint32_t arrive_count) {
    uint32_t smem_addr = cast_smem_ptr_to_uint(&barrier_);
    asm volatile(
        "{\n\t"
        "mbarrier.init.shared::cta.b64 [%1], %0; \n"
        "}"
        :: "r"(arrive_count), "r"(smem_addr));
  }
  __device__ void wait(uint32_t phase) {
    uint32_t smem_addr = cast_smem_ptr_to_uint(&barrier_);
    uint32_t ticks = 0x989680;
    asm volatile(
        "{\n\t"
        ".reg .pred       P1;\n\t"
        "LAB_WAIT:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1, %2;\n\t"
        "@P1 bra DONE;\n\t"
        "bra     LAB_WAIT;\n\t"
        "DONE:\n\t"
        "}"
        :: "r"(smem_addr), "r"(phase), "r"(ticks) : "memory");
  }
  __device__ void arrive() {
    uint32_t smem_addr = cast_smem_ptr_to_uint(&barrier_);
    asm volatile("{\n\tmbarrier.arrive.shared::cta.b64 _, [%0];\n\t}" :: "r"(smem_addr) : "memory");
  }
  __device__ void arrive(uint32_t cta_id, bool pred = true) {
    uint32_t smem_addr = cast_smem_ptr_to_uint(&barrier_);
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        ".reg .b32 remAddr32;\n\t"
        "setp.eq.u32 p, %2, 1;\n\t"
        "@p mapa.shared::cluster.u32  remAddr32, %0, %1;\n\t"
        "@p mbarrier.arrive.shared::cluster.b64  _, [remAddr32];\n\t"
        "}"
        :: "r"(smem_addr), "r"(cta_id), "r"(static_cast<uint32_t>(pred)) : "memory");
  }
};
struct ClusterTransactionBarrier : public ClusterBarrier {
  __device__ void arrive_and_expect_tx(uint32_t transaction_bytes) {
    uint32_t smem_addr = cast_smem_ptr_to_uint(&barrier_);
    asm volatile("{\n\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [%1], %0; \n\t}" :: "r"(transaction_bytes), "r"(smem_addr) : "memory");
  }
  __device__ void expect_transaction(uint32_t transaction_bytes) {
    uint32_t smem_addr = cast_smem_ptr_to_uint(&barrier_);
    asm volatile("{\n\tmbarrier.expect_tx.shared::cta.b64 [%1], %0; \n\t}" :: "r"(transaction_bytes), "r"(smem_addr) : "memory");
  }
};
__device__ inline void fence_barrier_init() { asm volatile("{\n\tfence.mbarrier_init.release.cluster; \n}" ::); }
}  // namespace arch
using namespace arch;
// A warp draws the number of the next tile and tells it to all.
__global__ void __launch_bounds__(192) drawn(const float* __restrict__ in, float* out, int* counter, int total) {
  __shared__ alignas(128) float buf[2][1024];
  __shared__ ClusterTransactionBarrier buf_full[2];
  __shared__ ClusterBarrier buf_empty[2], tile_full, tile_empty;
  __shared__ int next_tile;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) {
      buf_full[s].init(1);
      buf_empty[s].init(128);
    }
    tile_full.init(1);
    tile_empty.init(128 + 1);
    fence_barrier_init();
  }
  __syncthreads();
  uint32_t phase = 0;
  if (warp == 5) {
    if (lane == 0) while (true) {
      tile_empty.wait(phase ^ 1);
      int t = atomicAdd(counter, 1);
      next_tile = t;
      tile_full.arrive();
      phase ^= 1;
      if (t >= total) break;
    }
  } else if (warp == 4) {
    if (lane == 0) {
      for (int it = 0;; ++it) {
        tile_full.wait(phase);
        const int t = next_tile;
        tile_empty.arrive();
        phase ^= 1;
        if (t >= total) break;
        const int s = it & 1;
        buf_empty[s].wait(((it >> 1) & 1) ^ 1);
        buf_full[s].arrive_and_expect_tx(sizeof(buf[0]));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(cast_smem_ptr_to_uint(buf[s])), "l"(in + t * 1024),
                     "r"((uint32_t)sizeof(buf[0])), "r"(cast_smem_ptr_to_uint(&buf_full[s].barrier_)) : "memory");
      }
    }
  } else {
    for (int it = 0;; ++it) {
        tile_full.wait(phase);
        int t = next_tile;
        tile_empty.arrive();
        if (t >= total) break;
        phase ^= 1;
        const int s = it & 1;
        buf_full[s].wait((it >> 1) & 1);
        float r = 0;
        for (int i = threadIdx.x; i < 1024; i += 128) r += buf[s][i];
        buf_empty[s].arrive();
        out[t * 128 + threadIdx.x] = r;
    }
  }
}
