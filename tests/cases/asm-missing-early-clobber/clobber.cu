// An output without `&` that is written while an input of the same kind is still needed.

// The idiom of the low and the high half of a product.
__device__ void halves(unsigned &low, unsigned &high, unsigned a, unsigned b) {
  asm("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;" : "=r"(low), "=r"(high) : "r"(a), "r"(b));  // error[asm-missing-early-clobber]: `%0` (`low`) is written before the last read of `%2` (`a`), which may be in the same register
}

__device__ void halves_right(unsigned &low, unsigned &high, unsigned a, unsigned b) {
  asm("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;" : "=&r"(low), "=r"(high) : "r"(a), "r"(b));
}

// A copy of the very input does no harm, a copy of another one does.
__device__ void copies(int &x, int &y, int a, int b) {
  asm("mov.b32 %0, %2; add.s32 %1, %2, %3;" : "=r"(x), "=r"(y) : "r"(a), "n"(3));
  asm("mov.b32 %0, %2; mov.b32 %1, %3;" : "=r"(x), "=r"(y) : "r"(a), "r"(b));  // error[asm-missing-early-clobber]: `%0` (`x`) is written before the last read of `%3` (`b`), which may be in the same register
}

// Registers of different kinds are kept apart, and constants have no register that could be shared.
__device__ void kinds(float &x, int &y, int a) {
  asm("cvt.rn.f32.s32 %0, %2; add.s32 %1, %2, 1;" : "=f"(x), "=r"(y) : "r"(a));
  asm("mov.b32 %0, 7; add.s32 %1, %2, 1;" : "=r"(a), "=r"(y) : "r"(5));
}

// One instruction reads before it writes; opposite guards exclude each other.
__device__ void guards(int &x, int a, int b) {
  asm("add.s32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));
  asm("{ .reg .pred p; setp.gt.s32 p, %1, %2; @p mov.b32 %0, %1; @!p mov.b32 %0, %2; }" : "=r"(x) : "r"(a), "r"(b));
  asm("{ .reg .pred p; setp.gt.s32 p, %1, %2; @p mov.b32 %0, 1; @p sub.s32 %0, %1, %2; @!p mov.b32 %0, 0; }"
      : "=r"(x) : "r"(a), "r"(b));  // error[asm-missing-early-clobber]: `%0` (`x`) is written before the last read of `%1` (`a`), which may be in the same register
}

// A branch that leads past the read, and one that leads back to it.
__device__ void branches(int &x, int a, int b) {
  asm("{ .reg .pred p; setp.gt.s32 p, %1, %2; @p bra M; mov.b32 %0, 1; bra E; M: add.s32 %0, %1, %2; E: }"
      : "=r"(x) : "r"(a), "r"(b));
  asm("{ .reg .pred p; L: mov.b32 %0, %2; setp.gt.s32 p, %1, 0; @p bra L; }" : "=r"(x) : "r"(a), "r"(b));  // error[asm-missing-early-clobber]: `%0` (`x`) is written before the last read of `%1` (`a`), which may be in the same register
}

// `+` is its own input; with the same expression as another input it shares that one's register.
__device__ void in_out(int &x, int y) {
  asm("add.s32 %0, %0, %1; add.s32 %0, %0, %1;" : "+r"(x) : "r"(y));
  asm("add.s32 %0, %0, %1; add.s32 %0, %0, %1;" : "+r"(x) : "r"(x));  // error[asm-missing-early-clobber]: `%0` (`x`) is written before the last read of `%1` (`x`), which may be in the same register
}
