// The examples of the articles, and their mistakes, in our own words: first carries in one statement each, with guards.

typedef unsigned int uint32;
typedef unsigned long long uint64;

// x mod 2^64 - 2^32 + 1, for 96 bits.
__device__ void modulo(uint32 *x) {
  asm("{\n\t"
      ".reg .s32 b;\n\t"
      ".reg .pred p;\n\t"
      "add.cc.u32 %1, %1, %2;\n\t"
      "addc.s32 b, 0, 0;\n\t"
      "sub.cc.u32 %0, %0, %2;\n\t"
      "subc.cc.u32 %1, %1, 0;\n\t"
      "subc.s32 b, b, 0;\n\t"
      "setp.eq.s32 p, b, 1;\n\t"
      "@p add.cc.u32 %0, %0, 0xffffffff;\n\t"
      "@p addc.u32 %1, %1, 0;\n\t"
      "}"
      : "+r"(x[0]), "+r"(x[1])
      : "r"(x[2]));
}

// 64 by 64 bits.
__device__ void product(uint64 x, uint64 y, uint32 *m) {
  asm("mul.lo.u32 %0, %4, %6;\n\t"
      "mul.hi.u32 %1, %4, %6;\n\t"
      "mul.lo.u32 %2, %5, %7;\n\t"
      "mul.hi.u32 %3, %5, %7;\n\t"
      "mad.lo.cc.u32 %1, %4, %7, %1;\n\t"
      "madc.hi.cc.u32 %2, %4, %7, %2;\n\t"
      "addc.u32 %3, %3, 0;\n\t"
      "mad.lo.cc.u32 %1, %5, %6, %1;\n\t"
      "madc.hi.cc.u32 %2, %5, %6, %2;\n\t"
      "addc.u32 %3, %3, 0;\n\t"
      : "+r"(m[0]), "+r"(m[1]), "+r"(m[2]), "+r"(m[3])
      : "r"(((uint32 *)&x)[0]), "r"(((uint32 *)&x)[1]), "r"(((uint32 *)&y)[0]), "r"(((uint32 *)&y)[1]));
}
// ---
// A carry in one statement and its use in the next.
typedef unsigned int uint32;
__device__ uint32 carry(uint32 &a, uint32 b) {
  uint32 carry;
  asm("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
  asm("addc.u32 %0, 0, 0;" : "=r"(carry));  // error[asm-carry-across-statements]: `addc.u32 %0, 0, 0` reads the carry of another statement, and not both are `volatile`
  return carry;
}
__device__ uint32 borrow(uint32 &a, uint32 b) {
  uint32 borrow;
  asm("sub.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
  asm("subc.u32 %0, 0, 0;" : "=r"(borrow));  // error[asm-carry-across-statements]: `subc.u32 %0, 0, 0` reads the carry of another statement, and not both are `volatile`
  return borrow;
}
// ---
// An `=` too many.
__device__ void sum(int i, int j, int k) { asm("add.s32 %0, %1, %2;" : = "=r"(i) : "r"(j), "r"(k)); }  // error[asm-statement]: this is no part of an asm statement
// ---
// Declarations and nothing else.
__device__ void declarations() {
  asm(".reg .u32 t1;");  // warning[asm-register-outside-scope]: register `t1` is declared outside braces
  asm(".reg .b64 addr;");  // warning[asm-register-outside-scope]: register `addr` is declared outside braces
  asm(".reg .pred %p;");  // warning[asm-register-outside-scope]: register `%p` is declared outside braces
  asm("{"
      ".reg .u32 t2;"
      "}");
}
// ---
// A conversion without its rounding.
__device__ void conversion(float &x, long long y) { asm("cvt.f32.s64 %0, %1;" : "=f"(x) : "l"(y)); }  // error[missing-modifier]: `cvt.f32.s64` lacks a modifier such as `.rn`, `.rz`, `.rm` or `.rp`
// ---
// What a compiler has written.
__device__ float power_of_two(float x) { float y; asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(y) : "f"(x)); return y; }
