// `%%` is `%` where there are operands, and `%%` where there are none.

__device__ void doubled() { asm volatile("{ .reg .u32 t; mov.u32 t, %%laneid; }"); }  // error[asm-percent-escape]: `%%` in a template without operands reaches the assembler as it is
// ---
__device__ void doubled_with_clobber() { asm volatile("{ .reg .u32 t; mov.u32 t, %%laneid; }" ::: "memory"); }  // error[asm-percent-escape]: `%%` in a template without operands reaches the assembler as it is
// ---
__device__ void single() { asm volatile("{ .reg .u32 t; mov.u32 t, %laneid; }"); }
// ---
__device__ unsigned operands() { unsigned t; asm("mov.u32 %0, %%laneid;" : "=r"(t)); return t; }
// ---
__device__ unsigned single_with_operands() { unsigned t; asm("mov.u32 %0, %laneid;" : "=r"(t)); return t; }
// ---
__device__ void comment() { asm volatile("// 100 %% sure"); }
