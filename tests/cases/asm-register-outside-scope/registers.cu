// A register that is declared outside braces is declared again by every copy.

__device__ int cube(int x) {
  int y;
  asm(".reg .u32 t1;\n\t"             // a temporary  // warning[asm-register-outside-scope]: register `t1` is declared outside braces
      " mul.lo.u32 t1, %1, %1;\n\t"
      " mul.lo.u32 %0, t1, %1;"
      : "=r"(y) : "r"(x));
  return y;
}

__device__ int cube_right(int x) {
  int y;
  asm("{\n\t"
      " .reg .u32 t1;\n\t"
      " mul.lo.u32 t1, %1, %1;\n\t"
      " mul.lo.u32 %0, t1, %1;\n\t"
      "}"
      : "=r"(y) : "r"(x));
  return y;
}

// Another statement uses the register: it is meant to be seen there.
__device__ int over_statements(int x) {
  int y;
  asm volatile(".reg .u32 shared_t; mov.u32 shared_t, %0;" :: "r"(x));
  asm volatile("mov.u32 %0, shared_t;" : "=r"(y));
  return y;
}

// Braces that one statement opens and another closes.
__device__ int open_brace(int x) {
  int y;
  asm volatile("{ .reg .u32 t; mov.u32 t, %0;" :: "r"(x));
  asm volatile("mov.u32 %0, t; }" : "=r"(y));
  return y;
}
// ---
// A vector, several names and a numbered row; in braces they belong to the statement.
__device__ int rows(int x) { int y; asm(".reg .s32 a, b<3>;\n\tadd.s32 b2, %1, 1;\n\tadd.s32 a, b2, 2;\n\tmov.s32 %0, a;" : "=r"(y) : "r"(x)); return y; }  // warning[asm-register-outside-scope]: register `a` is declared outside braces
__device__ int braced(int x) { int y; asm("{ .reg .s32 a, b<3>;\n\tadd.s32 b2, %1, 1;\n\tadd.s32 a, b2, 2;\n\tmov.s32 %0, a; }" : "=r"(y) : "r"(x)); return y; }
// ---
// `%=` is another number in each copy.
__device__ __forceinline__ int numbered(int x) { int y; asm(".reg .b32 _v%=; mov.b32 _v%=, %1; add.s32 %0, _v%=, 1;" : "=r"(y) : "r"(x)); return y; }
__global__ void twice(int *p) { p[0] = numbered(p[1]); p[2] = numbered(p[3]); }
