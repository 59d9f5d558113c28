// What `%` may name.

__device__ int modifier(int i) { int r; asm("mov.u32 %0, %n1;" : "=r"(r) : "r"(i)); return r; }
// ---
__device__ int range(int i) { int r; asm("mov.u32 %0, %5;" : "=r"(r) : "r"(i)); return r; }
// ---
__device__ int named(int i) { int r; asm("mov.u32 %[r], %[i];" : [r] "=r"(r) : [i] "r"(i)); return r; }
// ---
__device__ int at_end(int i) { int r; asm("mov.u32 %0, %1; //%" : "=r"(r) : "r"(i)); return r; }
// ---
__device__ int register_name(int i) { int r; asm("mov.u32 %0, %r1;" : "=r"(r) : "r"(i)); return r; }
// ---
// Named but not referred to by name; `%p` without a number; a number that is unique.
__device__ int right(int i) {
  int r;
  asm("{ .reg .pred %p; setp.eq.s32 %p, %1, 34; selp.s32 %0, 1, 0, %p; L%=: }" : [r] "=r"(r) : [i] "r"(i));
  return r;
}
