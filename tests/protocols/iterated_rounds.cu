// fault: "        s.empty[slot.index](slot.phase);\n" => ""
// fault: "        s.empty[index].arrive();\n" => ""
// fault: "b.init(128)" => "b.init(32)"
// fault: "        s.full[index](phase);\n" => ""
// fault: "RingCursor c; c.phase = 1;" => "RingCursor c;"
// Rounds of a range that says where it begins and ends, cursors that are asked like pointers, and objects of an array that are called.
#include <cuda_runtime.h>
#include <cuda/barrier>
#include <cuda/std/array>
#include <cuda/std/utility>
#include <cstdint>
enum class Stage : uint8_t { Load, Math, Store, Count };
struct Slot { int index; uint32_t phase; };
struct RingCursor {
  int index = 0; uint32_t phase = 0;
  __device__ Slot operator*() const { return Slot{index, phase}; }
  __device__ RingCursor& operator++() { if (++index == 4) { index = 0; phase ^= 1; } return *this; }
  __device__ RingCursor operator++(int) { RingCursor old = *this; ++*this; return old; }
};
struct Range {
  int first, last, step;
  struct It { int at, step; __device__ int operator*() const { return at; } __device__ It& operator++() { at += step; return *this; } __device__ bool operator!=(const It& o) const { return at < o.at; } };
  __device__ It begin() const { return {first, step}; }
  __device__ It end() const { return {last, step}; }
};
struct Mbar {
  uint64_t state;
  __device__ uint32_t addr() const { return static_cast<uint32_t>(__cvta_generic_to_shared(&state)); }
  __device__ void init(int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(addr()), "r"(n)); }
  __device__ void expect(uint32_t b) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(addr()), "r"(b) : "memory"); }
  __device__ void arrive() { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(addr()) : "memory"); }
  __device__ void operator()(uint32_t parity) const {
    for (;;) {
      uint32_t ok;
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(addr()), "r"(parity) : "memory");
      if (ok) return;
    }
  }
};
struct Smem { alignas(128) float tile[4][1024]; Mbar full[4], empty[4]; };
__device__ cuda::std::pair<int, int> split(int n) { return {n / 8, n % 8}; }
__global__ void __launch_bounds__(160) k(const float* in, float* out, int n) {
  extern __shared__ unsigned char raw[];
  auto& s = *reinterpret_cast<Smem*>(raw);
  const Stage role = threadIdx.x / 32 == 4 ? Stage::Load : Stage::Math;
  if (threadIdx.x == 0) { for (auto& b : s.full) b.init(1); for (auto& b : s.empty) b.init(128); }
  __syncthreads();
  auto [q, r] = split(n);
  const int rounds = q * 8 + r;
  switch (role) {
    case Stage::Load: {
      if (threadIdx.x % 32) break;
      RingCursor c; c.phase = 1;
      for (int i : Range{0, rounds, 1}) {
        const auto slot = *c;
        s.empty[slot.index](slot.phase);
        s.full[slot.index].expect(4096);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"((uint32_t)__cvta_generic_to_shared(s.tile[slot.index])), "l"(in + i * 1024), "r"(4096), "r"(s.full[slot.index].addr()) : "memory");
        c++;
      }
      break;
    }
    case Stage::Math: {
      RingCursor c{};
      float acc = 0;
      for (int i = 0; i < rounds; ++i, ++c) {
        auto [index, phase] = *c;
        s.full[index](phase);
        for (int j = threadIdx.x; j < 1024; j += 128) acc += s.tile[index][j];
        s.empty[index].arrive();
      }
      out[threadIdx.x] = acc;
      break;
    }
    default: break;
  }
}
