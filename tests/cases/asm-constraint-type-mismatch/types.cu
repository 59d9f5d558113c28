// The letter against the type of the expression.

__device__ void right(char c, short h, int r, long long l, float f, double d, int *p, bool b, __int128 q) {
  asm volatile("// %0 %1 %2 %3 %4 %5 %6 %7" :: "h"(h), "r"(r), "l"(l), "f"(f), "d"(d), "l"(p), "b"(b), "q"(q));
  asm volatile("// %0 %1" :: "r"((int)c), "n"(42));
}

// ---
__device__ int of_char(char c) { int r; asm("add.s32 %0, %1, 1;" : "=r"(r) : "r"(c)); return r; }  // error[asm-constraint-type-mismatch]: `c` does not fit the constraint `r`: `signed char` has 8 bits
// ---
__device__ void of_float(float &f) { asm("add.s32 %0, 1, 2;" : "=r"(f)); }  // error[asm-constraint-type-mismatch]: `f` does not fit the constraint `r`: `float` has 32 bits
// ---
__device__ void of_vector(int4 v) { asm volatile("// %0" :: "r"(v)); }  // error[asm-constraint-type-mismatch]: `v` does not fit the constraint `r`: `int4` is no scalar type
// ---
__device__ void of_pointer(int *p) { asm volatile("// %0" :: "r"(p)); }  // error[asm-constraint-type-mismatch]: `p` does not fit the constraint `r`: `int *` has 64 bits
// ---
__device__ void of_double(double d) { asm volatile("// %0" :: "f"(d)); }  // error[asm-constraint-type-mismatch]: `d` does not fit the constraint `f`: `double` has 64 bits
// ---
__device__ void of_short(short h) { asm volatile("// %0" :: "l"(h)); }  // error[asm-constraint-type-mismatch]: `h` does not fit the constraint `l`: `short` has 16 bits
// ---
__device__ void of_float_constant() { asm volatile("// %0" :: "n"(1.0f)); }  // error[asm-constraint-type-mismatch]: `1.0f` does not fit the constraint `n`: `float` has 32 bits
// ---
typedef unsigned long long word;
__device__ void of_typedef(word w) { asm volatile("// %0" :: "r"(w)); }  // error[asm-constraint-type-mismatch]: `w` does not fit the constraint `r`: `unsigned long long` has 64 bits
// ---
// What the declarations do not tell is not judged.
template <class T> __device__ void of_template(T t) { asm volatile("// %0" :: "r"(t)); }
// ---
// The letter against the instruction: up to sm_90 `f` is a floating-point register.
__device__ void of_instruction(float &f) { asm("add.s32 %0, %0, 1;" : "+f"(f)); }  // error[asm-constraint-type-mismatch]: `add.s32` takes a 32-bit integer here, `%0` is `.f32`
// ---
__device__ void of_width(long long &l, int r) { asm("cvt.s64.s32 %0, %1; add.s32 %0, %1, 1;" : "=&l"(l) : "r"(r)); }  // error[asm-constraint-type-mismatch]: `add.s32` takes a 32-bit integer here, `%0` is `.b64`
// ---
// A constant must be one.
__device__ unsigned of_parameter(int n, unsigned a) { unsigned r; asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "n"(n)); return r; }  // error[asm-constraint-type-mismatch]: `n` does not fit the constraint `n`: the value of the parameter `n` is not known when compiling
// ---
__device__ unsigned of_sum(const int n, unsigned a) { unsigned r; asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "n"(2 * n + 1)); return r; }  // error[asm-constraint-type-mismatch]: `2 * n + 1` does not fit the constraint `n`: the value of the parameter `n` is not known when compiling
// ---
template <int N> __device__ unsigned of_argument(unsigned a) { unsigned r; asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "n"(N)); return r; }
__device__ unsigned of_size(int n, unsigned a) { const int m = 3; unsigned r; asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "n"(sizeof(n) + m)); return r; }
__device__ unsigned of_sizes(unsigned a) { return of_argument<4>(of_size(1, a)); }
// ---
// A variable is no constant, whatever it was set to; a constant is.
__device__ unsigned of_variable(unsigned a) { int k = 3; unsigned r; asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "n"(k)); return r; }  // error[asm-constraint-type-mismatch]: `k` does not fit the constraint `n`: the value of the variable `k` is not known when compiling
// ---
__device__ unsigned of_counter(unsigned a) {
#pragma unroll
  for (int i = 0; i < 4; i++) asm("add.u32 %0, %0, %1;" : "+r"(a) : "n"(i));  // error[asm-constraint-type-mismatch]: `i` does not fit the constraint `n`: the value of the variable `i` is not known when compiling
  return a;
}
// ---
__device__ unsigned of_constants(unsigned a) {
  const int k = 3;
  constexpr unsigned m = 4;
  static const short s = 1;
  asm("add.u32 %0, %0, %1; add.u32 %0, %0, %2; add.u32 %0, %0, %3;" : "+r"(a) : "n"(k), "n"(m), "n"(s));
  return a;
}
__device__ void of_character(int a) { asm volatile("// %0" :: "n"('a')); }
template <int k> __device__ unsigned of_hidden(unsigned a) {
  { int m = 5; a += m; }
  constexpr int m = 5;
  asm("add.u32 %0, %0, %1; add.u32 %0, %0, %2;" : "+r"(a) : "n"(k), "n"(m));
  return a;
}
__device__ unsigned instance(unsigned a) { return of_hidden<3>(a); }
