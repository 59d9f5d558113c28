// The examples of NVIDIA's guide to inline PTX, and the mistakes in it and of its list, in our own words.

__device__ void examples(int i, int j, int k, unsigned x, int *p) {
  asm("membar.gl;");
  asm("add.s32 %0, %1, %2;" : "=r"(i) : "r"(j), "r"(k));
  asm("add.s32 %0, %2, %1;" : "=r"(i) : "r"(k), "r"(j));
  asm("add.s32 %0, %1, %1;" : "=r"(i) : "r"(k));
  asm("mov.s32 %0, 2;" : "=r"(i));
  asm("add.s32 %0, %0, %1;" : "+r"(i) : "r"(j));
  asm volatile("mov.u32 %0, %%clock;" : "=r"(x) :: "memory");
  asm("st.u32 [%0], %1;" : : "l"(p), "r"(x) : "memory");
}

__device__ int condition(int x) {
  int y = 0;
  asm("{\n\t"
      " .reg .pred %p;\n\t"
      " setp.eq.s32 %p, %1, 34;\n\t"  // x == 34?
      " @%p mov.s32 %0, 1;\n\t"       // if so, y is 1
      "}"                             // y = x == 34 ? 1 : y
      : "+r"(y) : "r"(x));
  return y;
}

// The mistakes.
__device__ void mistakes(int i, int j, int k, unsigned x, float f, long long y) {
  asm("mov.s32 r1, %0;" :: "r"(i));  // error[undeclared-name]: `r1` is not declared
  asm("add.u32 %0, %0, %1;" : "=r"(x) : "n"(42));  // error[asm-output-read-before-write]: `%0` (`x`) is an output and is read here before it is written
  asm("cvt.f32.s64 %0, %1;" : "=f"(f) : "l"(y));  // error[missing-modifier]: `cvt.f32.s64` lacks a modifier such as `.rn`, `.rz`, `.rm` or `.rp`
  asm("mov.u32 %0, %n1;" : "=r"(i) : "r"(1));  // error[asm-operand-reference]: `%n` before a number is an operand modifier, and PTX has none
  asm("add.s32 %0, %1, %2;" : "=r"(i) : "rf"(j), "r"(k));  // error[asm-constraint]: a constraint has one letter, this one has 2
}

__device__ void types(int j, int k) {
  int4 i4;
  char ci;
  float fi;
  asm("add.s32 %0, %1, %2;" : "=r"(i4) : "r"(j), "r"(k));  // error[asm-constraint-type-mismatch]: `i4` does not fit the constraint `r`: `int4` is no scalar type
  asm("add.s32 %0, %1, %2;" : "=r"(ci) : "r"(j), "r"(k));  // error[asm-constraint-type-mismatch]: `ci` does not fit the constraint `r`: `signed char` has 8 bits
  asm("add.s32 %0, %1, %2;" : "=r"(fi) : "r"(j), "r"(k));  // error[asm-constraint-type-mismatch]: `fi` does not fit the constraint `r`: `float` has 32 bits
}

__device__ int temporary(int x) {
  int y;
  asm("{\n\t"
      " reg .u32 t1;\n\t"             // the dot is missing  // error[unknown-opcode]: PTX has no instruction `reg`  // error[undeclared-name]: `t1` is not declared
      " mul.lo.u32 t1, %1, %1;\n\t"  // error[undeclared-name]: `t1` is not declared
      " mul.lo.u32 %0, t1, %1;\n\t"  // error[undeclared-name]: `t1` is not declared
      "}"
      : "=r"(y) : "r"(x));
  return y;
}
