// fault: "stage_idx = 0, phase ^= 1;" => "stage_idx = 0;"
// fault: "empty[stage_idx]->wait(phase ^ 1);" => "empty[stage_idx]->wait(phase);"
// fault: "if (lane_idx == 0) empty[s]->arrive();" => "empty[s]->arrive();"
// fault: "full[stage_idx]->arrive_and_expect_tx(A_BYTES + B_BYTES);" => "full[stage_idx]->arrive_and_expect_tx(A_BYTES + 2 * B_BYTES);"
// fault: "empty[i]->init(kMathThreads / 32);" => "empty[i]->init(kMathThreads);"
// fault: "        full[stage_idx]->wait(phase);\n" => ""
// fault: "          warpgroup_wait<0>();\n          release(stage_idx);\n" => "          release(stage_idx);\n          warpgroup_wait<0>();\n"
// fault: "    fence_barrier_init();\n  }\n  __syncthreads();\n" => "    fence_barrier_init();\n  }\n  __syncwarp();\n"
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
__device__ inline void warpgroup_arrive() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
__device__ inline void warpgroup_commit_batch() { asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
template <int N> __device__ inline void warpgroup_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(N) : "memory"); }
struct SM90_TMA_LOAD_2D {
  static __device__ void copy(void const* desc_ptr, uint64_t* mbar_ptr, void* smem_ptr, int32_t crd0, int32_t crd1) {
    uint64_t gmem_int_desc = reinterpret_cast<uint64_t>(desc_ptr);
    uint32_t smem_int_mbar = cast_smem_ptr_to_uint(mbar_ptr);
    uint32_t smem_int_ptr = cast_smem_ptr_to_uint(smem_ptr);
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%3, %4}], [%2];"
        : : "r"(smem_int_ptr), "l"(gmem_int_desc), "r"(smem_int_mbar), "r"(crd0), "r"(crd1) : "memory");
  }
};
template <uint32_t RegCount> __device__ inline void warpgroup_reg_alloc() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" : : "n"(RegCount)); }
template <uint32_t RegCount> __device__ inline void warpgroup_reg_dealloc() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" : : "n"(RegCount)); }
__device__ inline uint64_t make_desc(void const* p) { return (uint64_t)((cast_smem_ptr_to_uint(p) & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62); }
__device__ inline void wgmma_64x8(float (&d)[4], uint64_t a, uint64_t b, int scale) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b), "r"(scale));
}
__device__ inline uint32_t elect_one_sync() {
  uint32_t pred = 0, laneid = 0;
  asm volatile(
      "{\n.reg .b32 %%rx;\n.reg .pred %%px;\n     elect.sync %%rx|%%px, %2;\n@%%px mov.s32 %1, 1;\n     mov.s32 %0, %%rx;\n}\n"
      : "+r"(laneid), "+r"(pred) : "r"(0xFFFFFFFF));
  return pred;
}
}  // namespace arch
using namespace arch;
template <uint32_t BLOCK_M, uint32_t BLOCK_N>
struct Scheduler {
  int current_iter = -1;
  uint32_t num_m, num_blocks;
  __device__ explicit Scheduler(uint32_t m, uint32_t n) {
    num_m = (m + BLOCK_M - 1) / BLOCK_M;
    num_blocks = num_m * ((n + BLOCK_N - 1) / BLOCK_N);
  }
  __device__ bool get_next_block(uint32_t& m_block, uint32_t& n_block) {
    const uint32_t next = (++current_iter) * gridDim.x + blockIdx.x;
    if (next >= num_blocks) return false;
    m_block = next % num_m;
    n_block = next / num_m;
    return true;
  }
};
template <uint32_t BLOCK_M, uint32_t BLOCK_N, uint32_t BLOCK_K, uint32_t kNumStages, uint32_t kMathThreads>
__global__ void __launch_bounds__(kMathThreads + 128, 1) bf16_gemm(const __grid_constant__ CUtensorMap ta, const __grid_constant__ CUtensorMap tb, float* d, uint32_t m, uint32_t n, uint32_t k) {
  constexpr uint32_t A_BYTES = BLOCK_M * BLOCK_K * 2, B_BYTES = BLOCK_N * BLOCK_K * 2;
  extern __shared__ __align__(1024) uint8_t smem_buffer[];
  auto bars = reinterpret_cast<ClusterTransactionBarrier*>(smem_buffer + kNumStages * (A_BYTES + B_BYTES));
  ClusterTransactionBarrier* full[kNumStages];
  ClusterTransactionBarrier* empty[kNumStages];
  uint8_t* smem_a[kNumStages];
  uint8_t* smem_b[kNumStages];
#pragma unroll
  for (uint32_t i = 0; i < kNumStages; ++i) {
    full[i] = bars + i;
    empty[i] = bars + kNumStages + i;
    smem_a[i] = smem_buffer + i * A_BYTES;
    smem_b[i] = smem_buffer + kNumStages * A_BYTES + i * B_BYTES;
  }
  const uint32_t warp_idx = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  const uint32_t lane_idx = threadIdx.x & 31;
  if (warp_idx == 0 && elect_one_sync()) {
#pragma unroll
    for (uint32_t i = 0; i < kNumStages; ++i) {
      full[i]->init(1);
      empty[i]->init(kMathThreads / 32);
    }
    fence_barrier_init();
  }
  __syncthreads();
  auto scheduler = Scheduler<BLOCK_M, BLOCK_N>(m, n);
  uint32_t mb, nb, stage_idx = 0, phase = 0;
  auto advance = [&](uint32_t& k_block_idx) {
    ++k_block_idx;
    if (++stage_idx == kNumStages) stage_idx = 0, phase ^= 1;
  };
  const uint32_t num_k = (k + BLOCK_K - 1) / BLOCK_K;
  if (warp_idx >= kMathThreads / 32) {
    warpgroup_reg_dealloc<40>();
    if (warp_idx == kMathThreads / 32 && elect_one_sync()) {
      while (scheduler.get_next_block(mb, nb)) {
        for (uint32_t kb = 0; kb < num_k; advance(kb)) {
          empty[stage_idx]->wait(phase ^ 1);
          SM90_TMA_LOAD_2D::copy(&ta, &full[stage_idx]->barrier_, smem_a[stage_idx], kb * BLOCK_K, mb * BLOCK_M);
          SM90_TMA_LOAD_2D::copy(&tb, &full[stage_idx]->barrier_, smem_b[stage_idx], kb * BLOCK_K, nb * BLOCK_N);
          full[stage_idx]->arrive_and_expect_tx(A_BYTES + B_BYTES);
        }
      }
    }
  } else {
    warpgroup_reg_alloc<232>();
    auto release = [&](uint32_t s) {
      if (lane_idx == 0) empty[s]->arrive();
    };
    const uint32_t group = threadIdx.x / 128;
    while (scheduler.get_next_block(mb, nb)) {
      float acc[4] = {};
      for (uint32_t kb = 0; kb < num_k; advance(kb)) {
        full[stage_idx]->wait(phase);
          warpgroup_arrive();
#pragma unroll
          for (int j = 0; j < 4; ++j) wgmma_64x8(acc, make_desc(smem_a[stage_idx] + group * A_BYTES / 2 + j * 32), make_desc(smem_b[stage_idx] + j * 32), kb | j);
          warpgroup_commit_batch();
          warpgroup_wait<0>();
          release(stage_idx);
      }
      float* row = d + (mb * BLOCK_M + threadIdx.x / 2) * n + nb * BLOCK_N;
      for (int i = 0; i < 4; ++i) row[i] = acc[i];
    }
  }
}
void launch(CUtensorMap a, CUtensorMap b, float* d, int m, int n, int k) { bf16_gemm<128, 64, 64, 5, 256><<<132, 384, 200000>>>(a, b, d, m, n, k); }
