// args: --warn asm-missing-memory-clobber
// The compiler is told of memory by the clobber `"memory"`.

__device__ void put(int *p, int x) { asm volatile("st.global.s32 [%0], %1;" :: "l"(p), "r"(x)); }  // warning[asm-missing-memory-clobber]: `st.global.s32 [%0], %1` accesses memory

__device__ void put_right(int *p, int x) { asm volatile("st.global.s32 [%0], %1;" :: "l"(p), "r"(x) : "memory"); }

__device__ int sum(int a, int b) { int x; asm("add.s32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b)); return x; }
