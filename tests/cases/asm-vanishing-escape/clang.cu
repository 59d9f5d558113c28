// args: --compiler clang
// For clang `%{` is a brace, and `%-` an error.

__device__ int braces(int x) { int y; asm("%{ add.s32 %0, %1, %1; %}" : "=r"(y) : "r"(x)); return y; }

__device__ int others(int x) { int y; asm("add.s32 %0, %1, %1;%- " : "=r"(y) : "r"(x)); return y; }  // error[asm-percent-escape]: clang has no escape `%-`
