// args: --compiler both
// What nvcc takes is not enough where clang compiles it too.

__device__ int sum(int a, int b) { int r; asm("add.s32 %0, %1, %2;" : "=r"(r) : "r"(a) "r"(b)); return r; }  // error[asm-missing-comma]: a comma is missing between two operands

// A matching constraint, which nvcc does not have.
__device__ int matching(int a) { int r; asm("add.s32 %0, %1, 1;" : "=r"(r) : "0"(a)); return r; }  // error[asm-constraint]: nvcc has no matching constraints: use `+` on the output
