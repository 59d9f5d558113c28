// args: --compiler clang
// clang wants one of `=` and `+`.

__device__ void both(int &i, int x) { asm("add.s32 %0, %0, %1;" : "=+r"(i) : "r"(x)); }  // error[asm-constraint]: a constraint has one of `=` and `+`

__device__ void twice(int &i, int x) { asm("mov.s32 %0, %1;" : "==r"(i) : "r"(x)); }  // error[asm-constraint]: a constraint has one of `=` and `+`
