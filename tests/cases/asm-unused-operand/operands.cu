// Operands that the template does not name.

__device__ int sum(int a, int b) { int r; asm("add.s32 %0, %1, %1;" : "=r"(r) : "r"(a), "r"(b)); return r; }  // warning[asm-unused-operand]: the template does not name `%2` (`b`)

// An empty template is there for the dependence.
__device__ void barrier(int &x) { asm volatile("" : "+r"(x) :: "memory"); }

// A part that only the preprocessor knows may name it.
#define PART "mov.s32 %0, %1;"
#define WHOLE(part) asm(part : "=r"(r) : "r"(a), "r"(b))
__device__ int through_macro(int a) { int r; asm(PART : "=r"(r) : "r"(a)); return r; }
// ---
__device__ int of_three(int a, int b, int c) { int r; asm("add.s32 %0, %1, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }  // warning[asm-unused-operand]: the template does not name `%2` (`b`)
// ---
// An empty template keeps a value alive, and a comment names what it is about.
__device__ void kept(int a, int b) { asm volatile("" :: "r"(a)); asm volatile("// %0" :: "r"(b)); }
// ---
// A `%` is missing.
__device__ float last(float a, float b) { float r; asm("fma.rn.f32 %0, %1, %1, 2;" : "=f"(r) : "f"(a), "f"(b)); return r; }  // error[operand-type]: `fma.rn.f32` takes a `.b32` or `.f32` register or a floating-point immediate here, `2` is an integer immediate  // warning[asm-unused-operand]: the template does not name `%2` (`b`)
// ---
__device__ int integer(int a, int b) { int r; asm("add.s32 %0, %1, 2;" : "=r"(r) : "r"(a), "r"(b)); return r; }  // warning[asm-unused-operand]: the template does not name `%2` (`b`)
// ---
// Another branch of the template names it.
__device__ int branches(int a, int b) {
  int r;
  asm(
#ifdef WITH_SUM
      "add.s32 %0, %1, %2;"
#else
      "mov.s32 %0, %1;"
#endif
      : "=r"(r) : "r"(a), "r"(b));
  return r;
}
// ---
// The registers of what is waited for are outputs that the wait does not name.
__device__ void wait_for(float (&c)[2]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(c[0]), "+f"(c[1]) :: "memory");
}

__device__ void wait_for_all_but(float (&c)[2]) {
    asm volatile("wgmma.wait_group.sync.aligned %2;" : "+f"(c[0]), "+f"(c[1]) : "n"(1) : "memory");
}
