// fault: "    slots_[s].full.wait(phase);\n" => ""
// fault: "    if (lane() == 0) slots_[s].empty.arrive();\n" => ""
// fault: "    slots_[s].empty.wait(phase ^ 1);\n" => ""
// fault: "    slots_[s].full.expect(BYTES);\n" => "    slots_[s].full.arrive();\n"

// A friend that has its body in the class, a template that is the argument of a template, and a method that calls the
// function of the same name in a namespace.
#include <cstdint>

namespace device {
__device__ inline unsigned lane() {
  unsigned l;
  asm("mov.u32 %0, %%laneid;" : "=r"(l));
  return l;
}

class Mbar {
  uint64_t word_;
  __device__ uint32_t addr() const { return (uint32_t)__cvta_generic_to_shared(&word_); }

 public:
  __device__ void init(uint32_t n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(addr()), "r"(n) : "memory"); }
  __device__ void arrive() { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(addr()) : "memory"); }
  __device__ void expect(uint32_t n) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(addr()), "r"(n) : "memory");
  }
  __device__ void wait(uint32_t phase) const {
    uint32_t done;
    do {
      asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                   : "=r"(done)
                   : "r"(addr()), "r"(phase)
                   : "memory");
    } while (!done);
  }
  __device__ friend uint32_t address_of(const Mbar& bar) { return bar.addr(); }
  friend class Other;
};
}  // namespace device

template <typename T>
struct Twice {
  __device__ T operator()(T x) const { return x * 2; }
};

template <template <typename> class Op, typename T, int N, int STAGES>
class Stream {
  struct Slot {
    alignas(128) T tile[N];
    device::Mbar full, empty;
  };
  static constexpr uint32_t BYTES = N * sizeof(T);
  Slot* slots_;
  Op<T> op_;
  __device__ static unsigned lane() { return device::lane(); }

 public:
  __device__ explicit Stream(unsigned char* raw) : slots_(reinterpret_cast<Slot*>(raw)) {
    if (threadIdx.x == 0) {
      for (int s = 0; s < STAGES; ++s) {
        slots_[s].full.init(1);
        slots_[s].empty.init(2);
      }
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
  }
  __device__ void fill(const T* from, int s, uint32_t phase) {
    slots_[s].empty.wait(phase ^ 1);
    slots_[s].full.expect(BYTES);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(slots_[s].tile)),
                 "l"(from), "r"(BYTES), "r"(address_of(slots_[s].full))
                 : "memory");
  }
  __device__ void drain(T* to, int s, uint32_t phase) {
    slots_[s].full.wait(phase);
    for (int i = threadIdx.x - 32; i < N; i += 64) to[i] = op_(slots_[s].tile[i]);
    __syncwarp();
    if (lane() == 0) slots_[s].empty.arrive();
  }
};

template <template <typename> class Op, typename T>
__global__ void __launch_bounds__(96) stream(const T* in, T* out, int n) {
  extern __shared__ __align__(128) unsigned char raw[];
  Stream<Op, T, 256, 3> all(raw);
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x >= 32)
      all.drain(out + i * 256, i % 3, (i / 3) & 1);
    else if (threadIdx.x == 0)
      all.fill(in + i * 256, i % 3, (i / 3) & 1);
  }
}

void launch(const float* in, float* out, int n) { stream<Twice, float><<<1, 96, 4096>>>(in, out, n); }
