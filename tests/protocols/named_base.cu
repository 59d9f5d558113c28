// fault: "      ring.wait(ring.full(), 0);" => ""
// fault: "      ring.wait(ring.empty(), 1);" => ""
// fault: "  __syncthreads();  // the objects are made" => ""
#include <cstdint>
#include <cuda_runtime.h>

__device__ unsigned at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

// The base is named by another name, which names the structure in itself.
template <class Own> struct Turns {
  __device__ Own& self() { return static_cast<Own&>(*this); }
  __device__ void next() {
    if (++self().slot_ == Own::depth) {
      self().slot_ = 0;
      self().turn_ ^= 1;
    }
  }
};
struct Objects {
  float rows[2][256];
  uint64_t full[2], empty[2];
};
template <int Depth> class Ring : public Turns<Ring<Depth>> {
  friend struct Turns<Ring>;
  using Base = Turns<Ring>;

 public:
  static constexpr int depth = Depth;
  __device__ explicit Ring(Objects& of) : of_{of} {}
  __device__ uint64_t* full() { return &of_.full[slot_]; }
  __device__ uint64_t* empty() { return &of_.empty[slot_]; }
  __device__ float* row() { return of_.rows[slot_]; }
  __device__ void wait(uint64_t* on, unsigned turn) {
    unsigned done = 0;
    while (!done)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done) : "r"(at(on)), "r"(turn ^ turn_) : "memory");
  }
  __device__ void advance() { Base::next(); }

 private:
  Objects& of_;
  int slot_ = 0;
  unsigned turn_ = 0;
};

__global__ void __launch_bounds__(160) sums(const float* in, float* out, int rounds) {
  __shared__ alignas(128) Objects objects;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&objects.full[i])));
      asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(at(&objects.empty[i])));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();  // the objects are made
  Ring<2> ring(objects);
  if (threadIdx.x >= 128) {
    if (threadIdx.x > 128) return;
    for (int r = 0; r < rounds; ++r) {
      ring.wait(ring.empty(), 1);
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(at(ring.full())) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(at(ring.row())), "l"(in + r * 256), "r"(at(ring.full())) : "memory");
      ring.advance();
    }
  } else {
    float sum = 0.f;
    for (int r = 0; r < rounds; ++r) {
      ring.wait(ring.full(), 0);
      sum += ring.row()[255 - threadIdx.x];
      asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(ring.empty())) : "memory");
      ring.advance();
    }
    out[threadIdx.x] = sum;
  }
}

void launch(const float* in, float* out) { sums<<<1, 160>>>(in, out, 64); }
