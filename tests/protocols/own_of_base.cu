// fault: "    for (int i = 0; i < P::kStages; ++i) { ptx::mbarrier_init(ring.full(i), 1);" => "    for (int i = 0; i < P::kStages; ++i) { ptx::mbarrier_init(ring.full(i), 2);"
// fault: "      c.phase = 1;\n" => ""
// fault: "      ring.acquire(c.stage, c.phase);\n" => ""
// fault: "if (++stage == S) { stage = 0; phase ^= 1; }" => "if (++stage == S) { stage = 0; }"
// A base of a template knows its derived structure, a cursor is made of fields of bits, and a loop goes over all elements.
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda/std/array>
#include <cuda/std/utility>
#include <cstdint>
namespace ptx = cuda::ptx;
namespace detail::pipe {
template <class T, int N> constexpr int bytes_of() { return sizeof(T) * N; }
template <typename Derived>
struct StageBase {
  __device__ Derived& self() { return static_cast<Derived&>(*this); }
  __device__ const Derived& self() const { return *static_cast<const Derived*>(this); }
  __device__ void acquire(int s, uint32_t ph) { while (!ptx::mbarrier_try_wait_parity(self().full(s), ph)) {} }
  __device__ void release(int s) { ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, self().empty(s)); }
};
struct Storage { uint64_t full_[4], empty_[4]; };
struct Ring : StageBase<Ring> {
  Storage* st;
  __device__ explicit Ring(Storage& s) : st{&s} {}
  __device__ uint64_t* full(int i) { return &st->full_[i]; }
  __device__ uint64_t* empty(int i) { return &st->empty_[i]; }
};
template <int S>
struct Cursor {
  uint32_t stage : 8;
  uint32_t phase : 1;
  __device__ Cursor() : stage(0), phase(0) {}
  __device__ Cursor& operator++() { if (++stage == S) { stage = 0; phase ^= 1; } return *this; }
  __device__ Cursor operator++(int) { Cursor old = *this; ++*this; return old; }
};
}
template <int TM, int ST> struct Policy { static constexpr int kTile = TM; static constexpr int kStages = ST; using Value = float; };
template <class P> using StorageOf = detail::pipe::Storage;
struct Args { const float* src; float* dst; struct { int rows, cols; } shape; int n() const; };
template <class P>
__global__ void __launch_bounds__(160) k(const __grid_constant__ Args args) {
  constexpr int kBytes = detail::pipe::bytes_of<typename P::Value, P::kTile>();
  __shared__ alignas(128) cuda::std::array<float, P::kTile> buf[P::kStages];
  __shared__ StorageOf<P> st;
  detail::pipe::Ring ring(st);
  if (threadIdx.x == 0) {
    for (int i = 0; i < P::kStages; ++i) { ptx::mbarrier_init(ring.full(i), 1); ptx::mbarrier_init(ring.empty(i), 4); }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  detail::pipe::Cursor<P::kStages> c;
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128) {
      c.phase = 1;
      for (int t = blockIdx.x; t < args.shape.rows; t += gridDim.x, ++c) {
        while (!ptx::mbarrier_try_wait_parity(ring.empty(c.stage), c.phase));
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, ring.full(c.stage), kBytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buf[c.stage].data(), args.src + size_t(t) * P::kTile, kBytes, ring.full(c.stage));
      }
    }
  } else {
    for (int t = blockIdx.x; t < args.shape.rows; t += gridDim.x) {
      ring.acquire(c.stage, c.phase);
      float s = 0;
      for (auto v : buf[c.stage]) s += v;
      __syncwarp();
      if (threadIdx.x % 32 == 0) ring.release(c.stage);
      args.dst[t * 128 + threadIdx.x] = s;
      c++;
    }
  }
}
void go(Args a) { k<Policy<256, 4>><<<132, 160>>>(a); }
