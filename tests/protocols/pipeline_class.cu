// fault: "PipeState<N> write{0, 1};" => "PipeState<N> write{0, 0};"
// fault: "      pipe.consumer_release(read);\n" => ""
// fault: "      float v = tiles[read.index_][threadIdx.x];\n      pipe.consumer_release(read);" => "      pipe.consumer_release(read);\n      float v = tiles[read.index_][threadIdx.x];"
// fault: "      pipe.consumer_wait(read);\n" => ""
// fault: "pipe.init(1, 128);" => "pipe.init(1, 4);"
// fault: "pipe.init(1, 128);" => "pipe.init(2, 128);"
#include <cstdint>
template <int N> struct PipeState {
  int index_;
  uint32_t phase_;
  __device__ PipeState& operator++() {
    if (++index_ == N) {
      index_ = 0;
      phase_ ^= 1;
    }
    return *this;
  }
};
template <int N> class Pipe {
  uint64_t full_[N];
  uint64_t empty_[N];
  static __device__ uint32_t a(uint64_t* b) { return (uint32_t)__cvta_generic_to_shared(b); }
  static __device__ void wait(uint64_t* b, uint32_t p) {
    asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}" :: "r"(a(b)), "r"(p));
  }
 public:
  __device__ void init(int producers, int consumers) {
    for (int i = 0; i < N; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(a(&full_[i])), "r"(producers));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(a(&empty_[i])), "r"(consumers));
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __device__ uint64_t* producer_acquire(const PipeState<N>& s, uint32_t bytes) {
    wait(&empty_[s.index_], s.phase_);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(a(&full_[s.index_])), "r"(bytes));
    return &full_[s.index_];
  }
  __device__ void consumer_wait(const PipeState<N>& s) { wait(&full_[s.index_], s.phase_); }
  __device__ void consumer_release(const PipeState<N>& s) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(a(&empty_[s.index_]))); }
};
__global__ void __launch_bounds__(160, 1) kern(const float* x, float* y, int n) {
  constexpr int N = 3;
  __shared__ alignas(128) float tiles[N][128];
  __shared__ Pipe<N> pipe;
  if (threadIdx.x == 0) pipe.init(1, 128);
  __syncthreads();
  if (threadIdx.x >= 128) {
    if (threadIdx.x % 32 == 0) {
      PipeState<N> write{0, 1};
      for (int i = 0; i < n; ++i, ++write) {
        uint64_t* bar = pipe.producer_acquire(write, 512);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"((uint32_t)__cvta_generic_to_shared(tiles[write.index_])), "l"(x + i * 128), "r"(512), "r"((uint32_t)__cvta_generic_to_shared(bar)) : "memory");
      }
    }
  } else {
    PipeState<N> read{0, 0};
    float acc = 0.f;
    for (int i = 0; i < n; ++i, ++read) {
      pipe.consumer_wait(read);
      float v = tiles[read.index_][threadIdx.x];
      pipe.consumer_release(read);
      acc += v;
    }
    y[threadIdx.x] = acc;
  }
}
