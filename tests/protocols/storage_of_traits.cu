// fault: "      wait(&s.pipes.empty[at.index()], at.phase() ^ 1);\n" => ""
// fault: "      wait(&s.pipes.full[at.index()], at.phase());\n" => ""
// fault: "      if (thread % 32 == 0) arrive(&s.pipes.empty[at.index()]);\n" => ""
// fault: "init(&s.pipes.empty[i], kUsers / 32);" => "init(&s.pipes.empty[i], kUsers);"
// fault: "T::kBytes, &s.pipes.full[at.index()]);" => "2 * T::kBytes, &s.pipes.full[at.index()]);"
// Traits whose types need their constants, storage with an unnamed union, and a kernel that a switch of the host chooses.
#include <cstdint>
#include <type_traits>
#include <cuda_runtime.h>
template <int kStages, int kRow, typename Element>
struct StorageOf {
  static constexpr int kRows = kRow;
  struct alignas(1024) Tensors {
    alignas(128) Element rows[kStages][kRow];
    union { alignas(128) Element kept[kRow]; alignas(128) float sums[128]; };
  } tensors;
  alignas(128) Element last[kRow];
  static constexpr uint32_t kRowBytes = sizeof(last);
  struct Pipes { alignas(16) uint64_t full[kStages]; alignas(16) uint64_t empty[kStages]; } pipes;
};
template <int kRow_, int kWarps_, int kStages_, typename element = float>
struct Traits {
  using Element = element;
  static constexpr int kStages = kStages_, kThreads = kWarps_ * 32;
  using Storage = StorageOf<kStages, kRow_, Element>;
  static constexpr uint32_t kBytes = Storage::kRowBytes;
};
__device__ __forceinline__ uint32_t shared_of(void const* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void init(uint64_t* b, uint32_t n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_of(b)), "r"(n));
}
__device__ __forceinline__ void arrive(uint64_t* b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_of(b)) : "memory");
}
__device__ __forceinline__ void wait(uint64_t* b, uint32_t phase) {
  asm volatile("{\n.reg .pred P1;\nW:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra D;\nbra W;\nD:\n}\n" ::"r"(shared_of(b)), "r"(phase) : "memory");
}
__device__ __forceinline__ void load(void* to, void const* from, uint32_t bytes, uint64_t* b) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_of(b)), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_of(to)), "l"(from), "r"(512), "r"(shared_of(b)) : "memory");
}
template <int Stages>
struct State {
  int index_ = 0;
  uint32_t phase_ = 0;
  __device__ int index() const { return index_; }
  __device__ uint32_t phase() const { return phase_; }
  __device__ State& operator++() {
    if (++index_ == Stages) { index_ = 0; phase_ ^= 1; }
    return *this;
  }
};
template <typename T>
struct Loads {
  template <typename Order = int>
  __device__ void fill(float const* in, int rows, State<T::kStages>& at, typename T::Storage& s, Order const& = {}) {
    for (int r = 0; r < rows; ++r) {
      wait(&s.pipes.empty[at.index()], at.phase() ^ 1);
      load(s.tensors.rows[at.index()], in + r * T::Storage::kRows, T::kBytes, &s.pipes.full[at.index()]);
      ++at;
    }
  }
};
template <typename T, bool kDoubled>
__global__ void __launch_bounds__(T::kThreads, 1) add_rows(float const* in, float* out, int rows) {
  static constexpr int kUsers = T::kThreads - 128;
  extern __shared__ char memory[];
  auto& s = *reinterpret_cast<typename T::Storage*>(memory);
  if (threadIdx.x == 0) {
    for (int i = 0; i < T::kStages; ++i) {
      init(&s.pipes.full[i], 1);
      init(&s.pipes.empty[i], kUsers / 32);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  State<T::kStages> at;
  if (threadIdx.x < 128) {
    Loads<T> loads;
    if (threadIdx.x == 0) loads.fill(in, rows, at, s);
  } else {
    int const thread = threadIdx.x - 128;
    float sum = 0.f;
    for (int r = 0; r < rows; ++r) {
      wait(&s.pipes.full[at.index()], at.phase());
      sum += s.tensors.rows[at.index()][thread];
      if (thread % 32 == 0) arrive(&s.pipes.empty[at.index()]);
      ++at;
    }
    if constexpr (kDoubled) sum *= 2.f;
    out[blockIdx.x * kUsers + thread] = sum;
  }
}
template <typename T, bool kDoubled>
void run_with(float const* in, float* out, int rows, cudaStream_t stream) {
  auto kernel = add_rows<T, kDoubled>;
  kernel<<<132, T::kThreads, sizeof(typename T::Storage), stream>>>(in, out, rows);
}
#define SWITCH(CONDITION, NAME, ...) \
  [&] { if (CONDITION) { constexpr static bool NAME = true; return __VA_ARGS__(); } else { constexpr static bool NAME = false; return __VA_ARGS__(); } }()
void run(float const* in, float* out, int rows, bool doubled, cudaStream_t stream) {
  SWITCH(doubled, kIsDoubled, [&] { run_with<Traits<128, 8, 2>, kIsDoubled>(in, out, rows, stream); });
}
