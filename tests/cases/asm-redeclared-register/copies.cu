// A register outside braces is declared by every copy of the statement.

__device__ __forceinline__ int copy_a(int x) { int y; asm volatile(".reg .b32 t; mov.b32 t, %1; mov.b32 %0, t;" : "=r"(y) : "r"(x)); return y; }  // warning[asm-register-outside-scope]: register `t` is declared outside braces
__global__ void twice(int *p) { p[0] = copy_a(p[1]); p[2] = copy_a(p[3]); }  // error[asm-redeclared-register]: this declares `t` a second time in one function
// ---
__device__ __forceinline__ int copy_b(int x) { int y; asm volatile(".reg .b32 t; mov.b32 t, %1; mov.b32 %0, t;" : "=r"(y) : "r"(x)); return y; }  // warning[asm-register-outside-scope]: register `t` is declared outside braces
__global__ void once(int *p) { p[0] = copy_b(p[1]); }
__global__ void once_more(int *p) { p[2] = copy_b(p[3]); }
// ---
#define COPY_C(y, x) asm volatile(".reg .b32 t; mov.b32 t, %1; mov.b32 %0, t;" : "=r"(y) : "r"(x))  // warning[asm-register-outside-scope]: register `t` is declared outside braces
__global__ void macro(int *p) { int a, b; COPY_C(a, p[0]); COPY_C(b, p[1]); p[2] = a + b; }  // error[asm-redeclared-register]: this declares `t` a second time in one function
// ---
__device__ __forceinline__ int copy_d(int x) { int y; asm volatile("{ .reg .b32 t; mov.b32 t, %1; mov.b32 %0, t; }" : "=r"(y) : "r"(x)); return y; }
__global__ void braces(int *p) { p[0] = copy_d(p[1]); p[2] = copy_d(p[3]); }
// ---
// One scope over several statements, and another.
__global__ void scopes(int *p) {
  asm volatile("{"); asm volatile(".reg .b32 t; mov.b32 t, 1;"); asm volatile("}");  // warning[asm-register-outside-scope]: register `t` is declared outside braces
  asm volatile("{"); asm volatile(".reg .b32 t; mov.b32 t, 2;"); asm volatile("}");  // warning[asm-register-outside-scope]: register `t` is declared outside braces
}
