// Control that leaves a statement.

__device__ void stop() { asm volatile("exit;"); }  // warning[asm-control-flow-escape]: `exit` leaves the function unknown to the compiler

__device__ void back() { asm volatile("ret;"); }  // warning[asm-control-flow-escape]: `ret` leaves the function unknown to the compiler

__device__ void trap() { asm volatile("trap;"); }
// ---
// A label of another statement.
__device__ void skip(int *p, int n) {
  asm volatile("{ .reg .pred q; setp.eq.s32 q, %0, 0; @q bra SKIP; }" :: "r"(n));  // warning[asm-control-flow-escape]: this branches to `SKIP`, which is no label of this statement
  *p = n;
  asm volatile("SKIP:");
}
// ---
__device__ void own(int *p, int n) {
  asm volatile("{ .reg .pred q; setp.eq.s32 q, %0, 0; @q bra SKIP; st.global.s32 [%1], %0; SKIP: }" :: "r"(n), "l"(p) : "memory");
}
