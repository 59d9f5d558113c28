// Scopes over several statements.
__device__ int unopened(int x) { int y; asm volatile("add.s32 %0, %1, 1; }" : "=r"(y) : "r"(x)); return y; }  // error[asm-statement]: nothing opens the scope of this `}`
// ---
__device__ void both(int *p) {
  asm volatile("{ .reg .s32 counter; mov.s32 counter, 0;");
  asm volatile("add.s32 counter, counter, 1; st.global.s32 [%0], counter;" :: "l"(p) : "memory");
  asm volatile("}");
}
