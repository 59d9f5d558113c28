// args: --compiler both
// clang takes a single `%` for a modifier.

__device__ unsigned single_with_operands() { unsigned t; asm("mov.u32 %0, %laneid;" : "=r"(t)); return t; }  // error[asm-percent-escape]: clang takes a single `%` before a name for an operand modifier

__device__ unsigned doubled() { unsigned t; asm("mov.u32 %0, %%laneid;" : "=r"(t)); return t; }
