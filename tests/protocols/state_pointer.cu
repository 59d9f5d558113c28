// fault: "      while (!try_wait(st->bar_full, st->phase)) {}\n" => ""
// fault: "    st->phase ^= 1;\n" => ""
// fault: "      arrive(st->bar_empty);\n" => ""
// fault: "expect_tx(st->bar_full, 2 * kTile);" => "expect_tx(st->bar_full, kTile);"
// fault: "      while (!try_wait(st->bar_empty, st->phase ^ 1)) {}\n" => ""
// fault: "mb_init(mine.bar_empty, 96);" => "mb_init(mine.bar_empty, 128);"
#include <cstdint>
constexpr int kTile = 1024;
struct State { uint32_t bar_full, bar_empty; uint32_t phase; int turn; volatile char* where; };
__device__ inline void mb_init(uint32_t a, uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(n)); }
__device__ inline void expect_tx(uint32_t a, uint32_t n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(a), "r"(n) : "memory"); }
__device__ inline void arrive(uint32_t a) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(a) : "memory"); }
__device__ inline bool try_wait(uint32_t a, uint32_t p) {
  uint32_t ok;
  asm volatile("{\n .reg .pred q;\n mbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\n selp.b32 %0, 1, 0, q;\n}" : "=r"(ok) : "r"(a), "r"(p) : "memory");
  return ok != 0;
}
__device__ inline void copy(uint32_t d, const void* s, uint32_t n, uint32_t b) {
  asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(d), "l"(s), "r"(n), "r"(b) : "memory");
}
__device__ void step(State* st) {
    st->phase ^= 1;
    st->turn++;
}
__device__ void load(State* st, const char* a, const char* b) {
      while (!try_wait(st->bar_empty, st->phase ^ 1)) {}
      expect_tx(st->bar_full, 2 * kTile);
      const uint32_t d = (uint32_t)__cvta_generic_to_shared((void*)st->where);
      copy(d, a + st->turn * kTile, kTile, st->bar_full);
      copy(d + kTile, b + st->turn * kTile, kTile, st->bar_full);
}
__device__ int use(State* st) {
      while (!try_wait(st->bar_full, st->phase)) {}
      int x = 0;
      volatile int* w = (volatile int*)st->where;
      for (int i = threadIdx.x; i < 2 * kTile / 4; i += 96) x += w[i];
      arrive(st->bar_empty);
      return x;
}
__global__ void __launch_bounds__(128) one_place(const char* a, const char* b, int* out, int n) {
  __shared__ alignas(128) char place[2 * kTile];
  __shared__ uint64_t bars[2];
  State mine;
  mine.bar_full = (uint32_t)__cvta_generic_to_shared(&bars[0]);
  mine.bar_empty = mine.bar_full + 8;
  mine.phase = 0;
  mine.turn = 0;
  mine.where = place;
  if (threadIdx.x == 0) {
    mb_init(mine.bar_full, 1);
    mb_init(mine.bar_empty, 96);
  }
  __syncthreads();
  State* st = &mine;
  if (threadIdx.x >= 96) {
    if (threadIdx.x == 96) for (int i = 0; i < n; i++) { load(st, a, b); step(st); }
  } else {
    int x = 0;
    for (int i = 0; i < n; i++) { x += use(st); step(st); }
    out[threadIdx.x] = x;
  }
}
