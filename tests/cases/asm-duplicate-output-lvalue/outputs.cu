// Two registers, one variable.

__device__ void split(unsigned &a, unsigned &b, unsigned long long x) {
  asm("mov.b64 {%0, %1}, %2;" : "=r"(a), "=r"(a) : "l"(x));  // warning[asm-duplicate-output-lvalue]: `%0` and `%1` are both stored to `a`
}

__device__ void split_right(unsigned &a, unsigned &b, unsigned long long x) {
  asm("mov.b64 {%0, %1}, %2;" : "=r"(a), "=r"(b) : "l"(x));
}

__device__ void elements(unsigned *a, unsigned long long x) {
  asm("mov.b64 {%0, %1}, %2;" : "=r"(a[0]), "=r"(a[1]) : "l"(x));
}
// ---
__device__ void members(int2 &v) {
  asm("mov.s32 %0, 1; mov.s32 %1, 2;" : "=r"(v.x), "=r"(v.x));  // warning[asm-duplicate-output-lvalue]: `%0` and `%1` are both stored to `v.x`
  asm("mov.s32 %0, 1; mov.s32 %1, 2;" : "=r"(v.x), "=r"(v.y));
}
__device__ void elements(int *p) {
  asm("mov.s32 %0, 1; mov.s32 %1, 2;" : "=r"(p[0]), "=r"(p[1]));
  asm("mov.s32 %0, 1; add.s32 %1, %1, 2;" : "=&r"(p[0]), "+r"(p[0]));  // warning[asm-duplicate-output-lvalue]: `%0` and `%1` are both stored to `p[0]`
}
// ---
// Each use of the macro names other elements.
#define TWO(i) "+r"(o[i]), "+r"(o[i + 1])
__device__ void rows(int (&o)[4]) {
  asm("add.s32 %0, %0, %1; add.s32 %2, %2, %3;" : TWO(0), TWO(2));
}
