// One fault a part, each with a fix: the fixed parts verify clean of it and compile.
__device__ unsigned early(unsigned a, unsigned b) { unsigned r; asm("add.u32 %0, %1, %2; xor.b32 %0, %0, %1;" : "=r"(r) : "r"(a), "r"(b)); return r; }  // error[asm-missing-early-clobber]: `%0` (`r`) is written before the last read of `%1` (`a`), which may be in the same register
// ---
__device__ void early_wide(unsigned long long &h, unsigned long long &l, unsigned long long a, unsigned long long b) { asm("mul.lo.u64 %1, %2, %3;\n\tmul.hi.u64 %0, %2, %3;" : "=l"(h), "=l"(l) : "l"(a), "l"(b)); }  // error[asm-missing-early-clobber]: `%1` (`l`) is written before the last read of `%2` (`a`), which may be in the same register
// ---
__device__ unsigned read(unsigned a, unsigned b) { asm("add.u32 %0, %0, %1;" : "=r"(a) : "r"(b)); return a; }  // error[asm-output-read-before-write]: `%0` (`a`) is an output and is read here before it is written
// ---
__device__ float conditionally(float y, float x) { asm("{ .reg .pred p; setp.gt.f32 p, %1, 0f00000000; @p mov.f32 %0, %1; }" : "=f"(y) : "f"(x)); return y; }  // error[asm-output-conditionally-written]: `%0` (`y`) is an output and is not written on every path
// ---
__device__ unsigned clock_of() { unsigned r; asm("mov.u32 %0, %%clock;" : "=r"(r)); return r; }  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
// ---
__device__ int waiting(const int *p) { int r; asm("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(r) : "l"(p)); return r; }  // error[asm-side-effect-not-volatile]: `ld.acquire.gpu.global.s32 %0, [%1]` depends on when it is executed, and the statement is not `volatile`
// ---
__device__ int atomic(int *p) { int r; __asm__("atom.global.add.s32 %0, [%1], 1;" : "=r"(r) : "l"(p)); return r; }  // error[asm-side-effect-not-volatile]: `atom.global.add.s32 %0, [%1], 1` is an atomic operation, and the statement is not `volatile`
// ---
__device__ int barrier(int q) { int r; asm("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.popc.u32 %0, 0, p; }" : "=r"(r) : "r"(q)); return r; }  // error[asm-side-effect-not-volatile]: `bar.red.popc.u32 %0, 0, p` is a barrier, and the statement is not `volatile`
// ---
__device__ unsigned scope(unsigned a) { unsigned r; asm(".reg .u32 t;\n\tadd.u32 t, %1, 1;\n\tmov.u32 %0, t;" : "=r"(r) : "r"(a)); return r; }  // warning[asm-register-outside-scope]: register `t` is declared outside braces
// ---
__device__ unsigned comma(unsigned a, unsigned b) { unsigned r; asm("add.u32 %0, %1, %2;" : "=r"(r) : "r"(a) "r"(b)); return r; }  // warning[asm-missing-comma]: a comma is missing between two operands
// ---
__device__ void percent() { asm volatile("{ .reg .u32 t; mov.u32 t, %%laneid; }"); }  // error[asm-percent-escape]: `%%` in a template without operands reaches the assembler as it is
// ---
__device__ unsigned separator(unsigned a, unsigned b) { unsigned r; asm("add.u32 %0, %1, %2\n\tadd.u32 %0, %0, 1;" : "=&r"(r) : "r"(a), "r"(b)); return r; }  // error[asm-missing-separator]: a `;` is missing after this instruction
// ---
__device__ unsigned last_separator(unsigned a, unsigned b) { unsigned r; asm("add.u32 %0, %1, %2" : "=r"(r) : "r"(a), "r"(b)); return r; }  // error[asm-missing-separator]: a `;` is missing after this instruction
// ---
__device__ float rounding(long long x) { float r; asm("cvt.f32.s64 %0, %1;" : "=f"(r) : "l"(x)); return r; }  // error[missing-modifier]: `cvt.f32.s64` lacks a modifier such as `.rn`, `.rz`, `.rm` or `.rp`
// ---
__device__ float rounding_of_sum(float x, float y) { float r; asm("fma.f32 %0, %1, %2, %1;" : "=f"(r) : "f"(x), "f"(y)); return r; }  // error[missing-modifier]: `fma.f32` lacks a modifier such as `.rn`, `.rz`, `.rm` or `.rp`
// ---
__device__ unsigned mode(unsigned a) { unsigned r; asm("add.u32 %0, %1, 1;" : "r"(r) : "r"(a)); return r; }  // error[asm-constraint]: an output needs `=` or `+` in its constraint
// ---
__device__ unsigned mode_of_input(unsigned a) { unsigned r; asm("add.u32 %0, %1, 1;" : "=r"(r) : "+r"(a)); return r; }  // error[asm-constraint]: an input has no `=` or `+` in its constraint
// ---
__device__ unsigned constant(unsigned a) { unsigned r; asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "i"(3)); return r; }  // error[asm-constraint]: device code has no constraint `i` for inputs
// ---
__device__ unsigned order(unsigned a) { unsigned r; asm("add.u32 %0, %1, 1;" : "r="(r) : "r"(a)); return r; }  // error[asm-constraint]: the parts of a constraint are in the order `=r`, without anything else
// ---
__device__ void carry(unsigned *x, unsigned y) {
  asm("add.cc.u32 %0, %0, %1;" : "+r"(x[0]) : "r"(y));
  asm("addc.u32 %0, %0, 0;" : "+r"(x[1]));  // error[asm-carry-across-statements]: `addc.u32 %0, %0, 0` reads the carry of another statement, and not both are `volatile`
}
