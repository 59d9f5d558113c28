// args: --compiler clang
// What clang takes, and what it does not.

__device__ unsigned single_with_operands() { unsigned t; asm("mov.u32 %0, %laneid;" : "=r"(t)); return t; }  // error[asm-percent-escape]: clang takes a single `%` before a name for an operand modifier

__device__ unsigned doubled() { unsigned t; asm("mov.u32 %0, %%laneid;" : "=r"(t)); return t; }

// A colon is enough for clang to read `%%` as `%`.
__device__ void with_colon() { asm volatile("{ .reg .u32 t; mov.u32 t, %%laneid; }" ::: "memory"); }
