// An output `=` has to be written on every path.

__device__ void one_guard(int &y, int x) {
  asm("{ .reg .pred p; setp.eq.s32 p, %1, 34; @p mov.s32 %0, 1; }" : "=r"(y) : "r"(x));  // error[asm-output-conditionally-written]: `%0` (`y`) is an output and is not written on every path
}

__device__ void one_guard_right(int &y, int x) {
  asm("{ .reg .pred p; setp.eq.s32 p, %1, 34; @p mov.s32 %0, 1; }" : "+r"(y) : "r"(x));
}

// A pair of guards, a selection, and a write before the guard are complete.
__device__ void complete(int &y, int x) {
  asm("{ .reg .pred p; setp.eq.s32 p, %1, 34; @p mov.s32 %0, 1; @!p mov.s32 %0, 2; }" : "=&r"(y) : "r"(x));
  asm("{ .reg .pred p; setp.eq.s32 p, %1, 34; selp.s32 %0, 1, 2, p; }" : "=r"(y) : "r"(x));
  asm("{ .reg .pred p; setp.eq.s32 p, %1, 34; mov.s32 %0, 2; @p mov.s32 %0, 1; }" : "=r"(y) : "r"(x));
}

// A branch around the write.
__device__ void branch(int &y, int x) {
  asm("{ .reg .pred p; setp.eq.s32 p, %1, 34; @p bra E; mov.s32 %0, 1; E: }" : "=r"(y) : "r"(x));  // error[asm-output-conditionally-written]: `%0` (`y`) is an output and is not written on every path
  asm("{ .reg .pred p; setp.eq.s32 p, %1, 34; @p bra E; mov.s32 %0, 1; bra F; E: mov.s32 %0, 2; F: }" : "=r"(y) : "r"(x));
}
