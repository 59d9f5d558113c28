// fault: "memory.empty[i].init(TILE)" => "memory.empty[i].init(TILE / 2)"
// fault: "memory.full[i].init(1)" => "memory.full[i].init(2)"
// fault: "State<STAGES> state(1);" => "State<STAGES> state(0);"
// fault: "State<STAGES> state{0};" => "State<STAGES> state{1};"
// fault: "full->expect(TILE * 4);" => "full->expect(TILE);"
// fault: "      memory.empty[state.index()].arrive();\n" => ""
// fault: "      memory.empty[state.index()].wait(state.phase());\n" => ""
// fault: "      memory.full[state.index()].wait(state.phase());\n" => ""
// fault: "  __syncthreads();\n" => ""

#include <cstdint>

namespace {
constexpr int TILE = 128;

// An `mbarrier` with its methods.
struct Barrier {
  uint64_t word;

  __device__ uint32_t address() const { return static_cast<uint32_t>(__cvta_generic_to_shared(&word)); }
  __device__ void init(int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(count) : "memory");
  }
  __device__ void expect(int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes) : "memory");
  }
  __device__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory");
  }
  __device__ void wait(uint32_t parity) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
        "@!p bra again;\n"
        "}\n" ::"r"(address()),
        "r"(parity)
        : "memory");
  }
};

template <int STAGES>
class State {
 public:
  __device__ explicit State(uint32_t first) : index_(0), phase_(first) {}
  __device__ void advance() {
    if (++index_ == STAGES) {
      index_ = 0;
      phase_ ^= 1;
    }
  }
  __device__ int index() const { return index_; }
  __device__ uint32_t phase() const { return this->phase_; }

 private:
  int index_;
  uint32_t phase_;
};

template <int STAGES>
struct Memory {
  alignas(128) float tile[STAGES][TILE];
  Barrier full[STAGES];
  Barrier empty[STAGES];

  __device__ float* stage(int index) { return &tile[index][0]; }
};
}  // namespace

// A ring whose barriers and state are objects.
template <int STAGES>
__global__ void objects(const float* in, float* out, int tiles) {
  extern __shared__ __align__(128) char raw[];
  auto& memory = *reinterpret_cast<Memory<STAGES>*>(raw);
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      memory.full[i].init(1);
      memory.empty[i].init(TILE);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int role = threadIdx.x < TILE ? 0 : threadIdx.x == TILE ? 1 : 2;
  switch (role) {
  case 1: {
    State<STAGES> state(1);
    for (int t = 0; t < tiles; ++t) {
      Barrier* full = &memory.full[state.index()];
      memory.empty[state.index()].wait(state.phase());
      full->expect(TILE * 4);
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
              static_cast<uint32_t>(__cvta_generic_to_shared(memory.tile[state.index()]))),
          "l"(in + t * TILE), "n"(TILE * 4), "r"(full->address())
          : "memory");
      state.advance();
    }
    break;
  }
  case 0: {
    float sum = 0.f;
    State<STAGES> state{0};
    for (int t = 0; t < tiles; ++t) {
      memory.full[state.index()].wait(state.phase());
      sum += memory.stage(state.index())[TILE - 1 - threadIdx.x];
      memory.empty[state.index()].arrive();
      state.advance();
    }
    out[threadIdx.x] = sum;
    break;
  }
  default:
    break;
  }
}

void run(const float* in, float* out, int tiles) { objects<2><<<1, TILE + 32, sizeof(Memory<2>)>>>(in, out, tiles); }
