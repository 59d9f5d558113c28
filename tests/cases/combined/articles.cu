// The carry examples of the articles: one statement each, with guards.

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
