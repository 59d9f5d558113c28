// Enumerations have the size of their underlying type, and are no constants without a cast.

enum E { A, B = 7 };
enum class S : unsigned short { s0 };
enum L { l0 = 0x100000000LL };
enum { Anonymous = 4 };
enum Computed { c0 = sizeof(int), c1 = 1 << 3 };

__device__ void plain_16(E v) { asm volatile("// %0" :: "h"(v)); }  // error[asm-constraint-type-mismatch]: `v` does not fit the constraint `h`: `enum` has 32 bits
// ---
enum E { A };
__device__ void plain_out(E &v) { asm volatile("mov.u16 %0, 1;" : "=h"(v)); }  // error[asm-constraint-type-mismatch]: `v` does not fit the constraint `h`: `enum` has 32 bits
// ---
enum class S : unsigned short { s0 };
__device__ void short_32(S v) { asm volatile("// %0" :: "r"(v)); }  // error[asm-constraint-type-mismatch]: `v` does not fit the constraint `r`: `enum` has 16 bits
// ---
enum class S : unsigned short { s0 };
__device__ void scoped_value() { asm volatile("// %0" :: "n"(S::s0)); }  // error[asm-constraint-type-mismatch]: `S::s0` does not fit the constraint `n`: nvcc takes an enumerator only with a cast
// ---
enum E { A, B = 7 };
__device__ void value() { asm volatile("// %0" :: "n"(B)); }  // error[asm-constraint-type-mismatch]: `B` does not fit the constraint `n`: nvcc takes an enumerator only with a cast
// ---
enum { Anonymous = 4 };
__device__ void of_no_name() { asm volatile("// %0" :: "n"(Anonymous)); }  // error[asm-constraint-type-mismatch]: `Anonymous` does not fit the constraint `n`: nvcc takes an enumerator only with a cast
// ---
enum E { A, B = 7 };
enum class S : unsigned short { s0 };
enum Large { l0 = 0x100000000LL };
__device__ void right(E e, S s, Large l) {
  asm volatile("// %0 %1 %2" :: "r"(e), "h"(s), "l"(l));
  asm volatile("// %0 %1 %2 %3" :: "n"((int)B), "n"(A + 1), "n"(static_cast<int>(S::s0)), "n"(+A));
}
// ---
// A variable hides the enumerator.
enum E { A, B = 7 };
__device__ void hidden() { constexpr int B = 5; asm volatile("// %0" :: "n"(B)); }
