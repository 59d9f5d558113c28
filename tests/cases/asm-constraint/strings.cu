// Constraint strings that the compiler refuses.

__device__ void letters(int &i, int j) { asm("add.s32 %0, %0, %1;" : "+r"(i) : "rf"(j)); }
// ---
__device__ void no_mode(int &i, int j) { asm("mov.s32 %0, %1;" : "r"(i) : "r"(j)); }
// ---
__device__ void mode_on_input(int &i, int j) { asm("mov.s32 %0, %1;" : "=r"(i) : "+r"(j)); }
// ---
__device__ void mode_behind(int &i, int j) { asm("mov.s32 %0, %1;" : "r="(i) : "r"(j)); }
// ---
__device__ void early_first(int &i, int j) { asm("mov.s32 %0, %1;" : "&=r"(i) : "r"(j)); }
// ---
__device__ void matching(int &i, int j) { asm("add.s32 %0, %0, 1;" : "=r"(i) : "0"(j)); }
// ---
__device__ void immediate(int &i) { asm("add.s32 %0, %0, %1;" : "+r"(i) : "i"(3)); }
// ---
__device__ void memory(int *p) { asm volatile("// %0" :: "m"(*p)); }
// ---
__device__ void anything(int i) { asm volatile("// %0" :: "g"(i)); }
// ---
__device__ void string(int i) { asm volatile("// %0" :: "s"(i)); }
// ---
__device__ void nothing(int i) { asm volatile("// %0" :: ""(i)); }
// ---
__device__ void blanks(int &i, int j) { asm("mov.s32 %0, %1;" : "= r"(i) : "r"(j)); }
// ---
__device__ void right(int &i, int j) { asm("mov.s32 %0, %1; add.s32 %0, %0, %1;" : "=&r"(i) : "r"(j)); }
