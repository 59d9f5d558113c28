// fault: "      phase_ ^= 1;\n" => ""
// fault: "      for (int i = threadIdx.x; i < 1024; i += 128) sum += tile[i];\n      pipeline.consumer_release(state);\n" => "      pipeline.consumer_release(state);\n      for (int i = threadIdx.x; i < 1024; i += 128) sum += tile[i];\n"
// fault: "      pipeline.consumer_wait(state);\n" => ""
// fault: "return &full_[st.index()]" => "return &empty_[st.index()]"
#include <cstdint>
__device__ __forceinline__ uint32_t smem_u32(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void mbar_init(uint64_t *bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_expect_tx(uint64_t *bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(bar)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t *bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_u32(bar)) : "memory");
}
__device__ __forceinline__ bool mbar_try_wait(uint64_t *bar, uint32_t parity) {
  uint32_t ok;
  asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
               : "=r"(ok) : "r"(smem_u32(bar)), "r"(parity) : "memory");
  return ok;
}
__device__ __forceinline__ void mbar_wait(uint64_t *bar, uint32_t parity) {
  while (!mbar_try_wait(bar, parity)) {}
}
__device__ __forceinline__ void fence_mbar_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void tma_load_2d(void *dst, const void *map, uint64_t *bar, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(smem_u32(dst)),
               "l"(map), "r"(smem_u32(bar)), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ bool elect_one() {
  uint32_t ok;
  asm volatile("{\n\t.reg .pred p;\n\telect.sync _|p, 0xFFFFFFFF;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(ok));
  return ok;
}
// CUTLASS-like: pipeline class with nested storage, params, state; tensor copies
namespace cutl {
template <int Stages_> struct PipelineState {
  static constexpr uint32_t Stages = Stages_;
  int index_ = 0;
  uint32_t phase_ = 0;
  uint32_t count_ = 0;
  __device__ __forceinline__ PipelineState() : index_{}, phase_{}, count_{} {}
  __device__ __forceinline__ PipelineState(int index, uint32_t phase, uint32_t count) : index_(index), phase_(phase), count_(count) {}
  __device__ __forceinline__ int index() const { return index_; }
  __device__ __forceinline__ uint32_t phase() const { return phase_; }
  __device__ __forceinline__ void operator++() {
    ++index_;
    ++count_;
    if (index_ == Stages) {
      index_ = 0;
      phase_ ^= 1;
    }
  }
};
template <int Stages_> __device__ __forceinline__ PipelineState<Stages_> make_producer_start_state() {
  constexpr int index = 0;
  constexpr uint32_t phase = 1;
  return PipelineState<Stages_>(index, phase, 0);
}
template <int Stages_> class PipelineTma {
 public:
  struct SharedStorage { uint64_t full_barrier_[Stages_]; uint64_t empty_barrier_[Stages_]; };
  enum class ThreadCategory { Producer, Consumer };
  struct Params { uint32_t transaction_bytes = 0; ThreadCategory role = ThreadCategory::Consumer; uint32_t num_consumers = 0; };
  using State = PipelineState<Stages_>;
  __device__ PipelineTma(SharedStorage &storage, Params params) : params_(params), full_(&storage.full_barrier_[0]), empty_(&storage.empty_barrier_[0]) {
    if (threadIdx.x == 0) {
      for (int i = 0; i < Stages_; ++i) {
        mbar_init(&full_[i], 1);
        mbar_init(&empty_[i], params.num_consumers);
      }
      fence_mbar_init();
    }
  }
  __device__ __forceinline__ void producer_acquire(State st) {
    mbar_wait(&empty_[st.index()], st.phase());
    mbar_expect_tx(&full_[st.index()], params_.transaction_bytes);
  }
  __device__ __forceinline__ uint64_t *producer_get_barrier(State st) { return &full_[st.index()]; }
  __device__ __forceinline__ void consumer_wait(State st) { mbar_wait(&full_[st.index()], st.phase()); }
  __device__ __forceinline__ void consumer_release(State st) { mbar_arrive(&empty_[st.index()]); }
 private:
  Params params_;
  uint64_t *full_;
  uint64_t *empty_;
};
}
template <int S> struct SharedMem {
  alignas(128) float A[S][32 * 32];
  typename cutl::PipelineTma<S>::SharedStorage pipe;
};
template <int S> __global__ void __launch_bounds__(160) rowsum(const void *map, float *out, int tiles) {
  extern __shared__ __align__(128) unsigned char raw[];
  SharedMem<S> &sm = *reinterpret_cast<SharedMem<S> *>(raw);
  using Pipeline = cutl::PipelineTma<S>;
  int warp = threadIdx.x / 32;
  typename Pipeline::Params params;
  params.transaction_bytes = sizeof(float) * 32 * 32;
  params.role = warp == 4 ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.num_consumers = 128;
  Pipeline pipeline(sm.pipe, params);
  __syncthreads();
  if (params.role == Pipeline::ThreadCategory::Producer) {
    if (elect_one()) {
      auto state = cutl::make_producer_start_state<S>();
      for (int t = 0; t < tiles; ++t) {
        pipeline.producer_acquire(state);
        tma_load_2d(sm.A[state.index()], map, pipeline.producer_get_barrier(state), t * 32, blockIdx.x * 32);
        ++state;
      }
    }
  } else {
    typename Pipeline::State state;
    float sum = 0.f;
    for (int t = 0; t < tiles; ++t) {
      pipeline.consumer_wait(state);
      const float *tile = sm.A[state.index()];
      for (int i = threadIdx.x; i < 1024; i += 128) sum += tile[i];
      pipeline.consumer_release(state);
      ++state;
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
  }
}
template __global__ void rowsum<3>(const void *, float *, int);
