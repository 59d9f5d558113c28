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
      " reg .u32 t1;\n\t"             // the dot is missing  // error[unknown-opcode]: PTX has no instruction `reg`
      " mul.lo.u32 t1, %1, %1;\n\t"
      " mul.lo.u32 %0, t1, %1;\n\t"
      "}"
      : "=r"(y) : "r"(x));
  return y;
}
// ---
// The clock, first without what it needs.
__device__ unsigned clocks() {
  unsigned x, y;
  asm("mov.u32 %0, %%clock;" : "=r"(x));  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
  asm volatile("mov.u32 %0, %%clock;" : "=r"(y));
  return y - x;
}
// ---
// A store whose operands stand among the outputs.
__device__ void store(int *p, unsigned x) { asm("st.u32 [%0], %1;" : "r"(p), "r"(x) :: "memory"); }  // error[asm-constraint-type-mismatch]: `p` does not fit the constraint `r`: `int *` has 64 bits  // error[asm-constraint]: an output needs `=` or `+` in its constraint; what is only read belongs after the second colon  // error[asm-constraint]: an output needs `=` or `+` in its constraint; what is only read belongs after the second colon
// ---
__device__ void store_of_pointer(int *p, unsigned x) { asm("st.u32 [%0], %1;" : "l"(p), "r"(x) :: "memory"); }  // error[asm-constraint]: an output needs `=` or `+` in its constraint; what is only read belongs after the second colon  // error[asm-constraint]: an output needs `=` or `+` in its constraint; what is only read belongs after the second colon
// ---
// A 32-bit register where the instruction takes a wide one.
__device__ void wide(int &i, int j, int k) { asm("add.f64 %0, %1, %2;" : "=r"(i) : "r"(j), "r"(k)); }  // error[asm-constraint-type-mismatch]: `add.f64` takes a `.b64` or `.f64` register here, `%0` is `.b32`
// ---
// What to do instead with narrow variables.
__device__ void narrow(char &ci, char cj, char ck) {
  int temp = ci;
  asm("add.s32 %0, %1, %2;" : "=r"(temp) : "r"((int)cj), "r"((int)ck));
  ci = temp;
}
// ---
// The temporary without braces, and with them and the dot.
__device__ int cube(int x) {
  int y;
  asm(".reg .u32 t1;\n\t"             // temp reg t1  // warning[asm-register-outside-scope]: register `t1` is declared outside braces
      " mul.lo.u32 t1, %1, %1;\n\t"   // t1 = x * x
      " mul.lo.u32 %0, t1, %1;"        // y = t1 * x
      : "=r"(y) : "r"(x));
  return y;
}
__device__ int cube_in_braces(int x) {
  int y;
  asm("{\n\t"
      " .reg .u32 t1;\n\t"
      " mul.lo.u32 t1, %1, %1;\n\t"
      " mul.lo.u32 %0, t1, %1;\n\t"
      "}"
      : "=r"(y) : "r"(x));
  return y;
}
__device__ int label_in_braces(int x) {
  asm("{ .reg .pred p; setp.gt.s32 p, %0, 0; @p bra DONE; neg.s32 %0, %0; DONE: }" : "+r"(x));
  return x;
}
// ---
// Constraints of earlier compilers.
__device__ void of_memory(int *p, int &x) { asm("ld.u32 %0, %1;" : "=r"(x) : "m"(*p)); }  // error[asm-constraint]: device code has no constraint `m` for inputs  // warning[asm-side-effect-not-volatile]: `ld.u32 %0, %1` reads memory that may change, and the statement is not `volatile`
// ---
__device__ void of_symbol(int &x) { asm("mov.u32 %0, %1;" : "=r"(x) : "s"(3)); }  // error[asm-constraint]: device code has no constraint `s` for inputs
