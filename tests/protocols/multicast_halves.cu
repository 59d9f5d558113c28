// fault: "empty[i].init(2 * 4);" => "empty[i].init(4);"
// fault: "full[s].arrive_and_expect_tx(2 * kHalf);" => "full[s].arrive_and_expect_tx(kHalf);"
// fault: "  cluster_arrive();\n  cluster_wait();\n  if (warp == 4)" => "  __syncthreads();\n  if (warp == 4)"
// fault: "  cluster_arrive_relaxed();\n  cluster_wait();\n}" => "}"
// fault: "for (int peer = 0; peer < 2; ++peer) if (lane == peer) empty[s].arrive(peer);" => "if (lane == 0) empty[s].arrive();"
// fault: "      __syncwarp();\n" => "      if (lane == 0) empty[s].arrive(0u);\n      __syncwarp();\n"
#include <cstdint>
#include <cuda.h>
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
struct SM90_TMA_LOAD_MULTICAST_2D {
  static __device__ void copy(void const* desc_ptr, uint64_t* mbar_ptr, uint16_t multicast_mask, void* smem_ptr, int32_t crd0, int32_t crd1) {
    uint64_t gmem_int_desc = reinterpret_cast<uint64_t>(desc_ptr);
    uint32_t smem_int_mbar = cast_smem_ptr_to_uint(mbar_ptr);
    uint32_t smem_int_ptr = cast_smem_ptr_to_uint(smem_ptr);
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1, {%4, %5}], [%2], %3;"
        : : "r"(smem_int_ptr), "l"(gmem_int_desc), "r"(smem_int_mbar), "h"(multicast_mask), "r"(crd0), "r"(crd1) : "memory");
  }
};
__device__ inline uint32_t elect_one_sync() {
  uint32_t pred = 0, laneid = 0;
  asm volatile(
      "{\n.reg .b32 %%rx;\n.reg .pred %%px;\n     elect.sync %%rx|%%px, %2;\n@%%px mov.s32 %1, 1;\n     mov.s32 %0, %%rx;\n}\n"
      : "+r"(laneid), "+r"(pred) : "r"(0xFFFFFFFF));
  return pred;
}
__device__ inline void cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;\n" : :); }
__device__ inline void cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;\n" : :); }
__device__ inline void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;\n" : :); }
__device__ inline uint32_t block_rank_in_cluster() { uint32_t rank; asm volatile("mov.u32 %0, %%cluster_ctarank;\n" : "=r"(rank) :); return rank; }
}  // namespace arch
using namespace arch;
constexpr int kStages = 4, kHalf = 4096;
struct Storage {
  alignas(128) uint8_t tile[kStages][2 * kHalf];
  ClusterTransactionBarrier full[kStages];
  ClusterBarrier empty[kStages];
};
// Each of two blocks loads a half of the tile for both.
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(160) halves(const __grid_constant__ CUtensorMap map, uint32_t* out, int n) {
  extern __shared__ __align__(128) uint8_t raw[];
  Storage& st = *reinterpret_cast<Storage*>(raw);
  ClusterTransactionBarrier* full = st.full;
  ClusterBarrier* empty = st.empty;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint32_t rank = block_rank_in_cluster();
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      full[i].init(1);
      empty[i].init(2 * 4);
    }
    fence_barrier_init();
  }
  cluster_arrive();
  cluster_wait();
  if (warp == 4) {
    if (elect_one_sync()) {
      for (int k = 0; k < n; ++k) {
        int s = k % kStages;
        empty[s].wait(((k / kStages) & 1) ^ 1);
        full[s].arrive_and_expect_tx(2 * kHalf);
        SM90_TMA_LOAD_MULTICAST_2D::copy(&map, &full[s].barrier_, uint16_t(3), st.tile[s] + rank * kHalf, k * 64, rank * 32);
      }
    }
    __syncwarp();
  } else {
    uint32_t x = 0;
    for (int k = 0; k < n; ++k) {
      int s = k % kStages;
      full[s].wait((k / kStages) & 1);
      const uint32_t* t = reinterpret_cast<const uint32_t*>(st.tile[s]);
      for (int i = threadIdx.x; i < 2 * kHalf / 4; i += 128) x ^= t[i];
      __syncwarp();
      for (int peer = 0; peer < 2; ++peer) if (lane == peer) empty[s].arrive(peer);
    }
    out[blockIdx.x * 128 + threadIdx.x] = x;
  }
  cluster_arrive_relaxed();
  cluster_wait();
}
