// fault: "arrive_and_expect_tx(kBytesA + kBytesB)" => "arrive_and_expect_tx(kBytesA)"
// fault: "PipelineState<kStages> write(0, 1, 0);" => "PipelineState<kStages> write(0, 0, 0);"
// fault: "        arch::warpgroup_wait<0>();\n" => ""
// fault: "        full[read.index()].wait(read.phase());\n" => ""
// fault: "empty[i].init(256);" => "empty[i].init(2);"
// fault: "        ++read;\n" => "        ++read; if (read.index() == 0) read.phase_ ^= 1;\n"
// fault: "        arch::warpgroup_commit_batch();\n" => ""
// fault: "          empty[write.index()].wait(write.phase());\n" => ""
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
template <uint32_t Stages_>
struct PipelineState {
  static constexpr uint32_t Stages = Stages_;
  int index_ = 0;
  uint32_t phase_ = 0;
  uint32_t count_ = 0;
  __device__ PipelineState() : index_{}, phase_{}, count_{} {}
  __device__ PipelineState(int index, uint32_t phase, uint32_t count) : index_(index), phase_(phase), count_(count) {}
  __device__ int index() const { return index_; }
  __device__ uint32_t phase() const { return phase_; }
  __device__ void operator++() {
    ++index_;
    ++count_;
    if (index_ == Stages) {
      index_ = 0;
      phase_ ^= 1;
    }
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
__device__ inline int canonical_warp_group_idx() { return __shfl_sync(0xffffffff, threadIdx.x / 128, 0); }
__device__ inline int canonical_warp_idx() { return __shfl_sync(0xffffffff, threadIdx.x / 32, 0); }
}  // namespace arch
static constexpr uint32_t kStages = 3;
static constexpr uint32_t kBytesA = 128 * 64 * 2, kBytesB = 64 * 64 * 2;
struct SharedStorage {
  alignas(1024) uint8_t A[kStages][kBytesA];
  alignas(1024) uint8_t B[kStages][kBytesB];
  arch::ClusterTransactionBarrier full[kStages];
  arch::ClusterBarrier empty[kStages];
};
__global__ void __launch_bounds__(384, 1) gemm(const __grid_constant__ CUtensorMap tma_a, const __grid_constant__ CUtensorMap tma_b, float* D, int k_tiles) {
  using namespace arch;
  extern __shared__ char smem_buf[];
  SharedStorage& ss = *reinterpret_cast<SharedStorage*>(smem_buf);
  auto* full = ss.full;
  auto* empty = ss.empty;
  const int wg = canonical_warp_group_idx();
  const int warp_idx = canonical_warp_idx();
  const int lane_predicate = elect_one_sync();
  if (warp_idx == 0 && lane_predicate) {
    for (uint32_t i = 0; i < kStages; ++i) {
      full[i].init(1);
      empty[i].init(256);
    }
    fence_barrier_init();
  }
  __syncthreads();
  if (wg == 0) {
    warpgroup_reg_dealloc<40>();
    if (warp_idx == 0 && lane_predicate) {
      PipelineState<kStages> write(0, 1, 0);
      for (int k = 0; k < k_tiles; ++k) {
          empty[write.index()].wait(write.phase());
          full[write.index()].arrive_and_expect_tx(kBytesA + kBytesB);
          SM90_TMA_LOAD_2D::copy(&tma_a, &full[write.index()].barrier_, ss.A[write.index()], k * 64, blockIdx.x * 128);
          SM90_TMA_LOAD_2D::copy(&tma_b, &full[write.index()].barrier_, ss.B[write.index()], k * 64, blockIdx.y * 64);
          ++write;
      }
    }
  } else {
    warpgroup_reg_alloc<232>();
    float acc[4] = {};
    PipelineState<kStages> read;
    for (int k = 0; k < k_tiles; ++k) {
        full[read.index()].wait(read.phase());
        arch::warpgroup_arrive();
        uint64_t da = make_desc(ss.A[read.index()] + (wg - 1) * (kBytesA / 2)), db = make_desc(ss.B[read.index()]);
        for (int j = 0; j < 4; ++j) wgmma_64x8(acc, da + j * 2, db + j * 2, 1);
        arch::warpgroup_commit_batch();
        arch::warpgroup_wait<0>();
        empty[read.index()].arrive();
        ++read;
    }
    for (int i = 0; i < 4; ++i) D[(blockIdx.x * 384 + threadIdx.x) * 4 + i] = acc[i];
  }
}
