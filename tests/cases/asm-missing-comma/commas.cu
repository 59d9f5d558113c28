// nvcc takes two operands without a comma.

__device__ int sum(int a, int b) { int r; asm("add.s32 %0, %1, %2;" : "=r"(r) : "r"(a) "r"(b)); return r; }  // warning[asm-missing-comma]: a comma is missing between two operands
