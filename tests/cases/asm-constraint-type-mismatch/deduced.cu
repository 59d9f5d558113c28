// `auto` has the type of its initializer; halves are structures; `C` wants an array of characters.

__device__ void pointer(int *q) { auto p = q + 1; asm volatile("// %0" :: "r"(p)); }  // error[asm-constraint-type-mismatch]: `p` does not fit the constraint `r`: `int *` has 64 bits
// ---
__device__ void element(const int *q) { const auto x = q[1]; asm volatile("// %0" :: "l"(x)); }  // error[asm-constraint-type-mismatch]: `x` does not fit the constraint `l`: `int` has 32 bits
// ---
__device__ void number() { auto x{5}; asm volatile("// %0" :: "l"(x)); }  // error[asm-constraint-type-mismatch]: `x` does not fit the constraint `l`: `int` has 32 bits
// ---
__device__ void floating() { auto x = 1.0f; asm volatile("// %0" :: "r"(x)); }  // error[asm-constraint-type-mismatch]: `x` does not fit the constraint `r`: `float` has 32 bits
// ---
struct Opaque { int x; };
template <class T> __device__ T any(T x) { return x; }
__device__ void right(int *q) {
  auto p = q + 1;
  auto x = *q, y = q[1];
  auto z = any(5LL);
  auto &r = q[2];
  for (auto i : {1, 2, 3}) asm volatile("// %0" :: "r"(i));
  asm volatile("// %0 %1 %2 %3 %4" :: "l"(p), "r"(x), "r"(y), "l"(z), "r"(r));
}
// ---
#include <cuda_fp16.h>
__device__ void half_bits(__half x) { asm volatile("// %0" :: "h"(x)); }  // error[asm-constraint-type-mismatch]: `x` does not fit the constraint `h`: `__half` is no scalar type
// ---
#include <cuda_bf16.h>
__device__ void pair(__nv_bfloat162 x) { asm volatile("// %0" :: "r"(x)); }  // error[asm-constraint-type-mismatch]: `x` does not fit the constraint `r`: `__nv_bfloat162` is no scalar type
// ---
#include <cuda_fp16.h>
__device__ void bits(__half x, __half2 y) {
  asm volatile("// %0 %1" :: "h"(reinterpret_cast<unsigned short &>(x)), "r"(reinterpret_cast<unsigned &>(y)));
  asm volatile("// %0" :: "h"(__half_as_ushort(x)));
}
// ---
__device__ void literal() { int r; asm volatile("mov%1 %0, 1;" : "=r"(r) : "C"(".s32")); }  // error[asm-constraint-type-mismatch]: `".s32"` does not fit the constraint `C`: a literal is not the address of a variable
// ---
__device__ constexpr char type[] = ".s32";
__device__ void array() { int r; asm volatile("mov%1 %0, 1;" : "=r"(r) : "C"(type)); }
// ---
// An address of 32 bits is one of shared memory.
__device__ void narrow(int &x, unsigned p) { asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "r"(p)); }  // error[asm-constraint-type-mismatch]: `%1` (`p`) has 32 bits, and is used as an address of 64 bits
// ---
__device__ void narrow_generic(unsigned p, int x) { asm volatile("st.u32 [%0], %1;" :: "r"(p), "r"(x) : "memory"); }  // error[asm-constraint-type-mismatch]: `%0` (`p`) has 32 bits, and is used as an address of 64 bits
// ---
__device__ void shared(int &x, unsigned p) { asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(p)); }
