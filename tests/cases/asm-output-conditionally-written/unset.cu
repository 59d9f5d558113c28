// A variable without a value before has none to keep.

__device__ int loaded(const int *p, int c) {
  int x;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.s32 %0, [%1]; }" : "=r"(x) : "l"(p), "r"(c));
  return c ? x : 0;
}

__device__ int kept(const int *p, int c) {
  int x = 0;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.s32 %0, [%1]; }" : "=r"(x) : "l"(p), "r"(c));  // error[asm-output-conditionally-written]: `%0` (`x`) is an output and is not written on every path
  return x;
}

__device__ int assigned(const int *p, int c) {
  int x;
  x = c;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.s32 %0, [%1]; }" : "=r"(x) : "l"(p), "r"(c));  // error[asm-output-conditionally-written]: `%0` (`x`) is an output and is not written on every path
  return x;
}

__device__ int of_an_earlier_turn(const int *p, int n) {
  int x;
  for (int i = 0; i < n; i++) {
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.s32 %0, [%1]; }" : "=r"(x) : "l"(p), "r"(i));  // error[asm-output-conditionally-written]: `%0` (`x`) is an output and is not written on every path
  }
  return x;
}
