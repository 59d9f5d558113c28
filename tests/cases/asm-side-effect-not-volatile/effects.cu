// What does more than compute its outputs has to be volatile, or to clobber memory.

__device__ unsigned now() { unsigned t; asm("mov.u32 %0, %%clock;" : "=r"(t)); return t; }  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`

__device__ unsigned now_right() { unsigned t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t)); return t; }

__device__ int load(const int *p) { int x; asm("ld.global.s32 %0, [%1];" : "=r"(x) : "l"(p)); return x; }  // warning[asm-side-effect-not-volatile]: `ld.global.s32 %0, [%1]` reads memory that may change, and the statement is not `volatile`

__device__ int load_memory(const int *p) { int x; asm("ld.global.s32 %0, [%1];" : "=r"(x) : "l"(p) : "memory"); return x; }

__device__ int load_constant(const int *p) { int x; asm("ld.global.nc.s32 %0, [%1];" : "=r"(x) : "l"(p)); return x; }

__device__ int add(int *p, int y) { int x; asm("atom.global.add.s32 %0, [%1], %2;" : "=r"(x) : "l"(p), "r"(y)); return x; }  // error[asm-side-effect-not-volatile]: `atom.global.add.s32 %0, [%1], %2` is an atomic operation, and the statement is not `volatile`

// Without outputs a statement is volatile by itself.
__device__ void store(int *p, int y) { asm("st.global.s32 [%0], %1;" :: "l"(p), "r"(y)); }

__device__ int sum(int a, int b) { int x; asm("add.s32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b)); return x; }

// What the warp computes together stays where it is, and gives the same each time.
__device__ unsigned of_first_lane(unsigned x) { unsigned r; asm("shfl.sync.idx.b32 %0, %1, 0, 31, -1;" : "=r"(r) : "r"(x)); return r; }
