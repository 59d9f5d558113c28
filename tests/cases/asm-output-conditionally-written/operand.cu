// A predicate operand is the same wherever it is read.
__device__ unsigned chosen(bool c, unsigned y) {
  asm("@%1 mov.u32 %0, 1; @!%1 mov.u32 %0, 2;" : "=r"(y) : "b"(c));
  asm("{ .reg .b32 t; @%1 mov.u32 t, 1; @%1 mov.u32 %0, t; }" : "+r"(y) : "b"(c));
  asm("@%1 mov.u32 %0, 1;" : "=r"(y) : "b"(c)); // error[asm-output-conditionally-written]: is not written on every path
  return y;
}
