// fault: "    p.acquire();\n" => ""
// fault: "    c.wait();\n" => ""
// fault: "    c.release();\n" => ""
// fault: "Producer(Pipe<N>& q) : pipe(q), slot(0), par(1) {}" => "Producer(Pipe<N>& q) : pipe(q), slot(0), par(0) {}"
// fault: "if (++slot == N) { slot = 0; par ^= 1; }  // of the reader" => "if (++slot == N) { slot = 0; }"
// fault: "p.expect(bytes);" => "p.expect(bytes * 2);"
#include <cstdint>
namespace lib {
template <int N> struct Pipe {
  uint64_t f[N], e[N];
  static __device__ uint32_t at(uint64_t* p) { return (uint32_t)__cvta_generic_to_shared(p); }
  __device__ void setup(int readers) {
    for (int i = 0; i < N; i++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(f + i)));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(e + i)), "r"(readers));
    }
  }
  static __device__ void wait(uint64_t* b, uint32_t par) {
    asm volatile("{\n.reg .pred ok;\nW:\nmbarrier.try_wait.parity.shared::cta.b64 ok, [%0], %1;\n@!ok bra W;\n}" ::"r"(at(b)), "r"(par) : "memory");
  }
};
template <int N> struct Producer {
  Pipe<N>& pipe;
  int slot;
  uint32_t par;
  __device__ Producer(Pipe<N>& q) : pipe(q), slot(0), par(1) {}
  __device__ void acquire() { Pipe<N>::wait(&pipe.e[slot], par); }
  __device__ void expect(uint32_t n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(Pipe<N>::at(&pipe.f[slot])), "r"(n) : "memory"); }
  __device__ uint32_t bar() { return Pipe<N>::at(&pipe.f[slot]); }
  __device__ void next() { if (++slot == N) { slot = 0; par ^= 1; } }
};
template <int N> struct Consumer {
  Pipe<N>& pipe;
  int slot = 0;
  uint32_t par = 0;
  __device__ explicit Consumer(Pipe<N>& q) : pipe(q) {}
  __device__ void wait() { Pipe<N>::wait(&pipe.f[slot], par); }
  __device__ void release() { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(Pipe<N>::at(&pipe.e[slot])) : "memory"); }
  __device__ void next() {
    if (++slot == N) { slot = 0; par ^= 1; }  // of the reader
  }
};
}  // namespace lib
template <typename T, int N>
__global__ void __launch_bounds__(96) classes(const T* in, T* out, int rounds) {
  constexpr uint32_t bytes = 128 * sizeof(T);
  __shared__ alignas(128) T data[N][128];
  __shared__ lib::Pipe<N> pipe;
  if (threadIdx.x == 0) pipe.setup(64);
  __syncthreads();
  if (threadIdx.x / 32 == 2) {
    if (threadIdx.x % 32) return;
    lib::Producer<N> p(pipe);
    for (int r = 0; r < rounds; r++, p.next()) {
    p.acquire();
    p.expect(bytes);
    asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"((uint32_t)__cvta_generic_to_shared(data[p.slot])), "l"(in + r * 128), "r"(bytes), "r"(p.bar()) : "memory");
    }
    return;
  }
  lib::Consumer<N> c(pipe);
  T s{};
  for (int r = 0; r < rounds; r++, c.next()) {
    c.wait();
    s += data[c.slot][threadIdx.x] * data[c.slot][127 - threadIdx.x];
    c.release();
  }
  out[threadIdx.x] = s;
}
template __global__ void classes<double, 8>(const double*, double*, int);
