// A `;` between instructions and behind the last one.

__device__ int at_end(int x) { int y; asm("add.s32 %0, %1, %1" : "=r"(y) : "r"(x)); return y; }  // error[asm-missing-separator]: a `;` is missing after this instruction
// ---
__device__ int between(int x) {
  int y;
  asm("add.s32 %0, %1, %1\n\t"  // error[asm-missing-separator]: a `;` is missing after this instruction
      "add.s32 %0, %0, 1;"
      : "=&r"(y) : "r"(x));
  return y;
}
// ---
__device__ int before_guard(int x) {
  int y;
  asm("{ .reg .pred p; setp.eq.s32 p, %1, 0 @p mov.s32 %0, 1; }" : "+r"(y) : "r"(x));  // error[asm-missing-separator]: a `;` is missing after this instruction
  return y;
}
// ---
__device__ int right(int x) { int y; asm("add.s32 %0, %1, %1; // no comment\n\t" : "=r"(y) : "r"(x)); return y; }
// ---
// The last token is an operand, and an escape follows.
__device__ int twice_missing(int a, int b) { int r; asm("add.s32 %0, %1, %2\n\tadd.s32 %0, %0, 1" : "=&r"(r) : "r"(a), "r"(b)); return r; }  // error[asm-missing-separator]: a `;` is missing after this instruction
// ---
__device__ int at_the_end(int a) { int r; asm("neg.s32 %0, %1" : "=r"(r) : "r"(a)); return r; }  // error[asm-missing-separator]: a `;` is missing after this instruction
// ---
// What is no instruction needs no `;`: one mistake, one finding.
__device__ void unknown() { asm volatile("nop"); }  // error[unknown-opcode]: PTX has no instruction `nop`
// ---
__device__ void unknown_between(int a) { asm volatile("nop\n\tneg.s32 %0, %0;" : "+r"(a)); }  // error[asm-missing-separator]: a `;` is missing after this instruction
// ---
__device__ void unknown_before(int a) { asm volatile("nop; neg.s32 %0, %0" : "+r"(a)); }  // error[unknown-opcode]: PTX has no instruction `nop`  // error[asm-missing-separator]: a `;` is missing after this instruction
// ---
__device__ void alone() { asm volatile("trap"); }  // error[asm-missing-separator]: a `;` is missing after this instruction
