// Variables that are copied to themselves, and constants.
#include <climits>

__global__ void straight(int *p) {
  int a = p[0], b = p[1], c = p[2];
  asm volatile("mov.b32 %0, %3; mov.b32 %1, %4; mov.b32 %2, %5;" : "=r"(a), "=r"(b), "=r"(c) : "r"(a), "r"(b), "r"(c));
  p[3] = a + b + c;
}

__global__ void in_a_loop(int *p, int n) {
  int a = p[0], b = p[1];
  for (int i = 0; i < n; i++) asm volatile("mov.b32 %0, %2; mov.b32 %1, %3;" : "=r"(a), "=r"(b) : "r"(a), "r"(b));  // warning[asm-missing-early-clobber]: `%0` (`a`) is written before the last read of `%3` (`b`), which may be in the same register
  p[3] = a + b;
}

// Not copies of themselves.
__device__ void crossed(int &a, int &b) {
  asm volatile("mov.b32 %0, %3; mov.b32 %1, %2;" : "=r"(a), "=r"(b) : "r"(a), "r"(b));  // error[asm-missing-early-clobber]: `%0` (`a`) is written before the last read of `%2` (`a`), which may be in the same register
}

#define MOD 998244353u
constexpr unsigned modulus = 998244353u;
template <unsigned M> __device__ unsigned reduced(unsigned x) {
  unsigned r;
  asm volatile("{ .reg .pred p; sub.u32 %0, %1, %2; setp.lt.s32 p, %0, 0; @p add.u32 %0, %0, %2; }" : "=r"(r) : "r"(x), "r"(M));
  asm volatile("{ .reg .pred p; sub.u32 %0, %1, %2; setp.lt.s32 p, %0, 0; @p add.u32 %0, %0, %2; }" : "=r"(r) : "r"(x), "r"(MOD));
  asm volatile("{ .reg .pred p; sub.u32 %0, %1, %2; setp.lt.s32 p, %0, 0; @p add.u32 %0, %0, %2; }" : "=r"(r) : "r"(x), "r"(modulus));
  return r;
}

// Perhaps a constant of another file; and words that cross.
__device__ unsigned elsewhere(unsigned x) {
  unsigned r;
  asm volatile("{ .reg .pred p; sub.u32 %0, %1, %2; setp.lt.s32 p, %0, 0; @p add.u32 %0, %0, %2; }" : "=r"(r) : "r"(x), "r"(INT_MAX));  // warning[asm-missing-early-clobber]: `%0` (`r`) is written before the last read of `%2` (`INT_MAX`), which may be in the same register
  return r;
}
__device__ void sum(unsigned &lo, unsigned &hi, unsigned a, unsigned b) {
  asm volatile("add.cc.u32 %0, %2, %4; addc.u32 %1, %3, %5;" : "=r"(lo), "=r"(hi) : "r"(lo), "r"(hi), "r"(a), "r"(b));  // error[asm-missing-early-clobber]: `%0` (`lo`) is written before the last read of `%3` (`hi`), which may be in the same register
}

// Copies, and a load that is not executed always: the copies alone come before a read.
__device__ void loaded(int &a, int &b, const int *p, int c) {
  asm volatile("{ .reg .pred q; setp.ne.s32 q, %3, 0; mov.b32 %0, %4; mov.b32 %1, %5; @q ld.global.v2.s32 {%0, %1}, [%2]; }"
      : "=r"(a), "=r"(b) : "l"(p), "r"(c), "r"(a), "r"(b));  // warning[asm-missing-early-clobber]: `%0` (`a`) is written before the last read of `%5` (`b`), which may be in the same register
}
