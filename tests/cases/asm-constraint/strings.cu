// Constraint strings that the compiler refuses.

__device__ void letters(int &i, int j) { asm("add.s32 %0, %0, %1;" : "+r"(i) : "rf"(j)); }  // error[asm-constraint]: a constraint has one letter, this one has 2
// ---
__device__ void no_mode(int &i, int j) { asm("mov.s32 %0, %1;" : "r"(i) : "r"(j)); }  // error[asm-constraint]: an output needs `=` or `+` in its constraint
// ---
__device__ void mode_on_input(int &i, int j) { asm("mov.s32 %0, %1;" : "=r"(i) : "+r"(j)); }  // error[asm-constraint]: an input has no `=` or `+` in its constraint
// ---
__device__ void mode_behind(int &i, int j) { asm("mov.s32 %0, %1;" : "r="(i) : "r"(j)); }  // error[asm-constraint]: the parts of a constraint are in the order `=r`, without anything else
// ---
__device__ void early_first(int &i, int j) { asm("mov.s32 %0, %1;" : "&=r"(i) : "r"(j)); }  // error[asm-constraint]: the parts of a constraint are in the order `=&r`, without anything else
// ---
__device__ void matching(int &i, int j) { asm("add.s32 %0, %0, 1;" : "=r"(i) : "0"(j)); }  // error[asm-constraint]: nvcc has no matching constraints: use `+` on the output  // warning[asm-unused-operand]: the template does not name `%1` (`j`)
// ---
__device__ void immediate(int &i) { asm("add.s32 %0, %0, %1;" : "+r"(i) : "i"(3)); }  // error[asm-constraint]: device code has no constraint `i` for inputs
// ---
__device__ void memory(int *p) { asm volatile("// %0" :: "m"(*p)); }  // error[asm-constraint]: device code has no constraint `m` for inputs
// ---
__device__ void anything(int i) { asm volatile("// %0" :: "g"(i)); }  // error[asm-constraint]: device code has no constraint `g` for inputs
// ---
__device__ void string(int i) { asm volatile("// %0" :: "s"(i)); }  // error[asm-constraint]: device code has no constraint `s` for inputs
// ---
__device__ void nothing(int i) { asm volatile("// %0" :: ""(i)); }  // error[asm-constraint]: a constraint needs a letter
// ---
__device__ void blanks(int &i, int j) { asm("mov.s32 %0, %1;" : "= r"(i) : "r"(j)); }  // error[asm-constraint]: the parts of a constraint are in the order `=r`, without anything else
// ---
__device__ void right(int &i, int j) { asm("mov.s32 %0, %1; add.s32 %0, %0, %1;" : "=&r"(i) : "r"(j)); }
// ---
// nvcc takes several of `=` and `+`; with `+` among them the old value is passed in.
__device__ void modes(int &i, int &j, int &k, int x) {
  asm("mov.s32 %0, %1;" : "==r"(i) : "r"(x));
  asm("add.s32 %0, %0, %1;" : "=+r"(j) : "r"(x));
  asm("add.s32 %0, %0, %1;" : "+=r"(k) : "r"(x));
}
// ---
__device__ void early_input(int &i, int j) { asm("mov.s32 %0, %1;" : "=r"(i) : "&r"(j)); }  // error[asm-constraint]: an input has no `&` in its constraint
