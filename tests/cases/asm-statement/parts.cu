// Parts that the compiler refuses.

__device__ int comma(int a) { int r; asm("mov.s32 %0, %1;" : "=r"(r) : "r"(a), ); return r; }  // error[asm-statement]: an operand is missing after the comma
// ---
__device__ void expression(int a) { asm volatile("// %0" :: "r"); }  // error[asm-statement]: a constraint needs an expression in parentheses after it
// ---
__device__ void constraint(int a) { asm volatile("// %0" :: (a)); }  // error[asm-statement]: an operand needs a constraint string before its parentheses
// ---
__device__ void empty(int a) { asm volatile("// %0" :: "r"()); }  // error[asm-statement]: the parentheses of an operand hold no expression
// ---
__device__ void colons(int a) { asm volatile("// %0" : : "r"(a) : : : ); }  // error[asm-statement]: an asm statement has at most four colons
// ---
__device__ void labels(int a) { asm volatile("// %0" : : "r"(a) : "memory" : ); }  // error[asm-statement]: an asm statement without `goto` has at most three colons
// ---
__device__ void wide() { asm volatile(L"membar.gl;"); }  // error[asm-statement]: a wide string cannot be a template
// ---
__device__ void right() { asm volatile(u8"membar" ".gl;"); asm volatile(R"(membar.gl;)" :::); }
// ---
// Scopes that nothing closes or opens.
__device__ int unclosed(int x) { int y; asm volatile("{ .reg .s32 t; add.s32 t, %1, 1; mov.s32 %0, t;" : "=r"(y) : "r"(x)); return y; }  // error[asm-statement]: nothing closes the scope of this `{`
