// fault: "        pipe.acquire(state);\n" => "        st.pipe.full[state.index()].arrive_and_expect_tx(W * 4);\n"
// fault: "      pipe.wait(state);\n" => ""
// fault: "      pipe.release(state);\n" => ""
// fault: "Params{128u, threadIdx.x == 0}" => "Params{256u, threadIdx.x == 0}"
// fault: "return PipelineState(0, 1, 0);" => "return PipelineState(0, 0, 0);"
// A pipeline as a class with a state that is copied, made by a static method of its template, and barriers that are derived of others.
#include <cuda_runtime.h>
#include <cstdint>
#define CDIV(a, b) (((a) + (b) - 1) / (b))
template <int Stages> class PipelineState {
  uint32_t index_ = 0, phase_ = 0, count_ = 0;
 public:
  __device__ PipelineState() = default;
  __device__ PipelineState(uint32_t i, uint32_t p, uint32_t c) : index_(i), phase_(p), count_(c) {}
  __device__ uint32_t index() const { return index_; }
  __device__ uint32_t phase() const { return phase_; }
  __device__ void operator++() { ++count_; if ((++index_) == Stages) { index_ = 0; phase_ ^= 1; } }
  __device__ PipelineState advance(uint32_t n) const { PipelineState s = *this; s.phase_ ^= ((s.index_ + n) / Stages) & 1; s.index_ = (s.index_ + n) % Stages; return s; }
  static __device__ PipelineState make_producer() { return PipelineState(0, 1, 0); }
};
struct ClusterBarrier {
  uint64_t barrier_;
  __device__ static void init(uint64_t const* p, uint32_t n) { uint32_t a = (uint32_t)__cvta_generic_to_shared(p); asm volatile("mbarrier.init.shared::cta.b64 [%1], %0;" :: "r"(n), "r"(a)); }
  __device__ static bool try_wait(uint64_t const* p, uint32_t ph) {
    uint32_t a = (uint32_t)__cvta_generic_to_shared(p), ok;
    asm volatile("{\n\t.reg .pred P1;\n\tmbarrier.try_wait.parity.shared::cta.b64 P1, [%1], %2;\n\tselp.b32 %0, 1, 0, P1;\n\t}" : "=r"(ok) : "r"(a), "r"(ph));
    return static_cast<bool>(ok);
  }
  __device__ void init(uint32_t n) const { ClusterBarrier::init(&barrier_, n); }
  __device__ void wait(uint32_t ph) const { while (!try_wait(&this->barrier_, ph)) {} }
  __device__ void arrive() const { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"((uint32_t)__cvta_generic_to_shared(&barrier_))); }
};
struct TransactionBarrier : ClusterBarrier {
  using ClusterBarrier::init;
  __device__ void arrive_and_expect_tx(uint32_t n) const { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%1], %0;" :: "r"(n), "r"((uint32_t)__cvta_generic_to_shared(&barrier_))); }
};
template <int Stages_, int Bytes_> struct PipelineAsync {
  static constexpr int Stages = Stages_;
  using State = PipelineState<Stages>;
  struct Shared { TransactionBarrier full[Stages]; ClusterBarrier empty[Stages]; };
  struct Params { uint32_t consumers; bool leader; };
  Shared& shared; Params params;
  __device__ PipelineAsync(Shared& s, Params p) : shared(s), params(p) {
    if (p.leader) { for (int i = 0; i < Stages; ++i) { shared.full[i].init(1); shared.empty[i].init(params.consumers); } }
    __syncthreads();
  }
  __device__ void acquire(State s) { shared.empty[s.index()].wait(s.phase()); shared.full[s.index()].arrive_and_expect_tx(Bytes_); }
  __device__ uint64_t* barrier(State s) { return &shared.full[s.index()].barrier_; }
  __device__ void wait(State s) { shared.full[s.index()].wait(s.phase()); }
  __device__ void release(State const& s) { shared.empty[s.index()].arrive(); }
};
template <class T> struct TmaLoad {
  const T* base; int pitch;
  __device__ void operator()(void* dst, int row, uint64_t* bar, uint32_t bytes) const {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"((uint32_t)__cvta_generic_to_shared(dst)), "l"(base + (size_t)row * pitch), "r"(bytes), "r"((uint32_t)__cvta_generic_to_shared(bar)) : "memory");
  }
};
template <int S, int W> struct Storage { alignas(128) float x[S][W]; typename PipelineAsync<S, W * 4>::Shared pipe; };
template <int S, int W>
__global__ void __launch_bounds__(256) k(const float* x, float* y, int rows) {
  using Pipe = PipelineAsync<S, W * 4>;
  extern __shared__ char smem[];
  auto& st = *reinterpret_cast<Storage<S, W>*>(smem);
  const int wg = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
  Pipe pipe(st.pipe, typename Pipe::Params{128u, threadIdx.x == 0});
  const int mine = rows > (int)blockIdx.x ? CDIV(rows - (int)blockIdx.x, (int)gridDim.x) : 0;
  if (wg == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      auto state = Pipe::State::make_producer();
      TmaLoad<float> load{x, W};
      for (int i = 0; i < mine; ++i, ++state) {
        pipe.acquire(state);
        load(st.x[state.index()], blockIdx.x + i * gridDim.x, pipe.barrier(state), W * 4);
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    typename Pipe::State state;
    int i = 0;
    while (i < mine) {
      pipe.wait(state);
      float best = -1e30f;
      #pragma unroll 4
      for (int j = threadIdx.x - 128; j < W; j += 128) best = best > st.x[state.index()][j] ? best : st.x[state.index()][j];
      pipe.release(state);
      ++state; ++i;
      atomicMax((int*)&y[blockIdx.x], __float_as_int(best));
    }
  }
}
void go(const float* x, float* y, int rows, cudaStream_t s) { k<4, 2048><<<132, 256, sizeof(Storage<4, 2048>), s>>>(x, y, rows); }
