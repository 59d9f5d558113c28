// What `%` may name.

__device__ int modifier(int i) { int r; asm("mov.u32 %0, %n1;" : "=r"(r) : "r"(i)); return r; }  // error[asm-operand-reference]: `%n` before a number is an operand modifier, and PTX has none
// ---
__device__ int range(int i) { int r; asm("mov.u32 %0, %5;" : "=r"(r) : "r"(i)); return r; }  // error[asm-operand-reference]: `%5` names no operand: there are only `%0` to `%1`
// ---
__device__ int named(int i) { int r; asm("mov.u32 %[r], %[i];" : [r] "=r"(r) : [i] "r"(i)); return r; }  // error[asm-operand-reference]: nvcc has no references by name: `%[r]`  // error[asm-operand-reference]: nvcc has no references by name: `%[i]`
// ---
__device__ int at_end(int i) { int r; asm("mov.u32 %0, %1; //%" : "=r"(r) : "r"(i)); return r; }  // error[asm-operand-reference]: the template ends with a single `%`
// ---
__device__ int register_name(int i) { int r; asm("mov.u32 %0, %r1;" : "=r"(r) : "r"(i)); return r; }  // error[asm-operand-reference]: `%r` before a number is an operand modifier, and PTX has none
// ---
// Named but not referred to by name; `%p` without a number; a number that is unique.
__device__ int right(int i) {
  int r;
  asm("{ .reg .pred %p; setp.eq.s32 %p, %1, 34; selp.s32 %0, 1, 0, %p; L%=: }" : [r] "=r"(r) : [i] "r"(i));
  return r;
}
// ---
// nvcc counts the numbers of operands in 32 bits.
__device__ void far(int a, unsigned *p) { asm volatile("st.global.u32 [%1], %99999999999999999999999;" :: "r"(a), "l"(p)); }  // error[asm-operand-reference]: `%99999999999999999999999` names no operand: there are only `%0` to `%1`
// ---
__device__ void around(int a, unsigned *p) { asm volatile("st.global.u32 [%4294967297], %18446744073709551616;" :: "r"(a), "l"(p)); }
