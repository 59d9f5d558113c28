// What nothing can be stored to is no output.

__device__ void sum(int j) { asm volatile("mov.s32 %0, 1;" : "=r"(j + 1)); }  // error[asm-statement]: nothing can be stored to the output `j + 1`
// ---
__device__ void number() { asm volatile("mov.s32 %0, 1;" : "=r"(5)); }  // error[asm-statement]: nothing can be stored to the output `5`
// ---
__device__ void counted(int j) { asm volatile("mov.s32 %0, 1;" : "=r"(++j)); }  // error[asm-statement]: nothing can be stored to the output `++j`
// ---
__device__ void counted_behind(int j) { asm volatile("mov.s32 %0, 1;" : "=r"(j++)); }  // error[asm-statement]: nothing can be stored to the output `j++`
// ---
__device__ void choice(bool c, int j, int k) { asm volatile("mov.s32 %0, 1;" : "=r"(c ? j : k)); }  // error[asm-statement]: nothing can be stored to the output `c ? j : k`
// ---
__device__ void negated(int j) { asm volatile("mov.s32 %0, 1;" : "=r"(-(j))); }  // error[asm-statement]: nothing can be stored to the output `-(j)`
// ---
__device__ int &reference();
__device__ void right(int j, int k, int *p, float f, uint2 v) {
  int a[2];
  asm volatile("mov.s32 %0, 1;" : "=r"((j)));
  asm volatile("mov.s32 %0, 1;" : "=r"(*(p + 1)));
  asm volatile("mov.s32 %0, 1;" : "=r"(*p++));
  asm volatile("mov.s32 %0, 1;" : "=r"(a[j + 1]));
  asm volatile("mov.s32 %0, 1;" : "=r"(v.x));
  asm volatile("mov.s32 %0, 1;" : "=r"((unsigned &)f));
  asm volatile("mov.s32 %0, 1;" : "=r"((unsigned)j));
  asm volatile("mov.s32 %0, 1;" : "=r"(reference()));
}
