// fault: "    warpgroup_wait<1>();\n    empty[release.index()]" => "    warpgroup_wait<2>();\n    empty[release.index()]"
// fault: "    empty[release.index()].arrive();\n" => "    empty[read.index()].arrive();\n"
// fault: "  warpgroup_wait<0>();\n" => ""
// fault: "    if (threadIdx.x == 128) full[i].init(1);\n" => "    if (threadIdx.x == 128) full[i].init(2);\n"
// fault: "  fence_barrier_init();\n  __syncthreads();\n" => "  fence_barrier_init();\n"
// fault: "full[write.index()].arrive_and_expect_tx(sizeof(ss.tile[0]));" => "full[write.index()].arrive_and_expect_tx(sizeof(ss.tile[0]) / 2);"
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
__device__ inline uint64_t make_desc(void const* p) { return (uint64_t)((cast_smem_ptr_to_uint(p) & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62); }
__device__ inline void wgmma_64x8(float (&d)[4], uint64_t a, uint64_t b, int scale) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b), "r"(scale));
}
}  // namespace arch
namespace k {
using namespace arch;
constexpr int STAGES = 4;
struct Smem {
  alignas(1024) uint16_t tile[STAGES][2][64 * 64];
  alignas(16) ClusterTransactionBarrier full[STAGES];
  alignas(16) ClusterBarrier empty[STAGES];
};
template <class S>
__device__ void consume(S& ss, float* out, int n) {
  auto& full = ss.full;
  auto& empty = ss.empty;
  float acc[4] = {0.f, 0.f, 0.f, 0.f};
  PipelineState<STAGES> read, release;
  // prologue: one product in flight
  full[read.index()].wait(read.phase());
  warpgroup_arrive();
  wgmma_64x8(acc, make_desc(ss.tile[read.index()][0]), make_desc(ss.tile[read.index()][1]), 0);
  warpgroup_commit_batch();
  ++read;
  for (int i = 1; i < n; ++i) {
    full[read.index()].wait(read.phase());
    warpgroup_arrive();
    wgmma_64x8(acc, make_desc(ss.tile[read.index()][0]), make_desc(ss.tile[read.index()][1]), 1);
    warpgroup_commit_batch();
    warpgroup_wait<1>();
    empty[release.index()].arrive();
    ++read;
    ++release;
  }
  warpgroup_wait<0>();
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = acc[i];
}
template <class S>
__device__ void produce(S& ss, const CUtensorMap* map, int n) {
  auto& full = ss.full;
  auto& empty = ss.empty;
  PipelineState<STAGES> write{0, 1, 0};
  for (; n > 0; --n) {
    empty[write.index()].wait(write.phase());
    full[write.index()].arrive_and_expect_tx(sizeof(ss.tile[0]));
    SM90_TMA_LOAD_2D::copy(map, &full[write.index()].barrier_, ss.tile[write.index()][0], n, 0);
    SM90_TMA_LOAD_2D::copy(map, &full[write.index()].barrier_, ss.tile[write.index()][1], n, 64);
    ++write;
  }
}
__global__ void __launch_bounds__(256) run(const __grid_constant__ CUtensorMap map, float* out, int n) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Smem& ss = *reinterpret_cast<Smem*>(raw);
  auto& full = ss.full;
  auto& empty = ss.empty;
  for (int i = 0; i < STAGES; ++i) {
    if (threadIdx.x == 128) full[i].init(1);
    if (threadIdx.x == 128) empty[i].init(128);
  }
  fence_barrier_init();
  __syncthreads();
  if (threadIdx.x / 128 == 0) consume(ss, out, n);
  else if (threadIdx.x == 128) produce(ss, &map, n);
}
}  // namespace k
