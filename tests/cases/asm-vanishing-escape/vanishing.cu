// nvcc removes a `%` together with a character that is no name, digit or `%`.

__device__ int braces(int x) { int y; asm("%{ add.s32 %0, %1, %1; %}" : "=r"(y) : "r"(x)); return y; }  // warning[asm-vanishing-escape]: `%{` vanishes from a template with operands  // warning[asm-vanishing-escape]: `%}` vanishes from a template with operands
// ---
__device__ int others(int x) { int y; asm("add.s32 %0, %1, %1;%- %|" : "=r"(y) : "r"(x)); return y; }  // warning[asm-vanishing-escape]: `%-` vanishes from a template with operands  // warning[asm-vanishing-escape]: `%|` vanishes from a template with operands
// ---
// Nothing is lost in a comment, and without operands nothing is removed.
__device__ int comment(int x) { int y; asm("add.s32 %0, %1, %1; // 100 %-ish" : "=r"(y) : "r"(x)); return y; }
// ---
__device__ int right(int x) { int y; asm("{ add.s32 %0, %1, %1; }" : "=r"(y) : "r"(x)); return y; }
