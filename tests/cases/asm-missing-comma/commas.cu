// nvcc takes two operands without a comma.

__device__ int sum(int a, int b) { int r; asm("add.s32 %0, %1, %2;" : "=r"(r) : "r"(a) "r"(b)); return r; }  // warning[asm-missing-comma]: a comma is missing between two operands
// ---
// A macro's parameter or a macro after an operand may bring the colon itself.
#define LOAD(name, op, mem) __device__ unsigned name(const unsigned *p) { unsigned v; asm volatile("ld.global." #op ".u32 %0, [%1];" : "=r"(v) : "l"(p) mem); return v; }
LOAD(cached, cg, )
LOAD(fresh, cv, : "memory")
#define CLOBBER : "memory"
__device__ unsigned plain(const unsigned *p) { unsigned v; asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) CLOBBER); return v; }
#define AND_ALSO(x) , "r"(x)
__device__ int list(int a, int b) { int r; asm("add.s32 %0, %1, %2;" : "=r"(r) : "r"(a) AND_ALSO(b)); return r; }
// ---
#define INT "r"
__device__ int string(int a, int b) { int r; asm("add.s32 %0, %1, %2;" : "=r"(r) : "r"(a) INT(b)); return r; }  // warning[asm-missing-comma]: a comma is missing between two operands
