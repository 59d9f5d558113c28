// oracle: refuses: whether the compiler has a register of that name depends on the code around
// The compiler's own registers are nobody else's.

__device__ void taken(int &x) { asm("mov.b64 {%0, _}, %rd1;" : "=r"(x)); }  // error[asm-uses-compiler-register]: `%rd1` is a register of the compiler's own
// ---
__device__ void without_operands() { asm volatile("st.global.u32 [%rd4], 0;"); }  // error[asm-uses-compiler-register]: `%rd4` is a register of the compiler's own
// ---
__device__ void own(int &x) { asm("{ .reg .b64 %rd1; mov.b64 %rd1, 7; mov.b64 {%0, _}, %rd1; }" : "=r"(x)); }
