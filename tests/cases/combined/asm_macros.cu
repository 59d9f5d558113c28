// oracle: accepts: what is not used is never assembled
// Statements of macros are read where the macros are used, and macros among the parts of a statement are expanded.

#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define POINTER "l"
#define WIDTH 32

// The instruction comes from the use.
#define UNARY(name, d, a) asm(name ".f32 %0, %1;" : "=f"(d) : "f"(a))  // error[missing-modifier]: `sqrt.f32` lacks a modifier such as `.approx`, `.rn`, `.rz`, `.rm` or `.rp`

__device__ void unary(float x, double y) {
  UNARY("neg", x, x);
  UNARY("sqrt", x, x);
  UNARY("neg", y, x);  // error[asm-constraint-type-mismatch]: `y` does not fit the constraint `f`: `double` has 64 bits
}

// A function for each use.
#define LOAD(name, type, letter) __device__ type load_##name(const type *p) { type value; \
  asm volatile("ld.global." #name " %0, [%1];" : "=" letter(value) : POINTER(p)); return value; }  // error[unknown-modifier]: `ld` has no modifier `.u33`  // error[asm-constraint-type-mismatch]: `ld.global.u64` takes an integer of 64 or 128 bits here, `%0` is `.b32`  // error[asm-constraint-type-mismatch]: `value` does not fit the constraint `r`: `unsigned long long` has 64 bits
LOAD(u32, unsigned, "r")
LOAD(f32, float, "f")
LOAD(u33, unsigned, "r")
LOAD(u64, unsigned long long, "r")

// Parts of a statement.
#define DECLARE(name, type) ".reg ." #type " " name ";\n\t"
#define OPERANDS(a, b) "r"(a), "r"(b)
__device__ void parts(unsigned x, unsigned y, unsigned *out) {
  asm("{ " DECLARE("t", u32) "add.u" STRING(WIDTH) " t, %1, %2; mov.u32 %0, t; }" : "=r"(x) : OPERANDS(x, y));
  asm("{ " DECLARE("t", u32) "add.u" STRING(WIDTH) " t, %1, %3; mov.u32 %0, t; }" : "=r"(x) : OPERANDS(x, y));  // error[asm-operand-reference]: `%3` names no operand: there are only `%0` to `%2`
  asm volatile("st.global.u32 [%0], %1;" :: POINTER(out), "r"(x) : "memory");
  asm("mov.u32 " STRING(%0) ", 1" : "=r"(x));  // error[asm-missing-separator]: a `;` is missing after this instruction
  asm("add.u32 %0, %1, 1;" OTHER_PART(x) : "=r"(x) : "r"(y));
}

// The faults of the macro itself are told once.
#define MULTIPLY(low, high, a, b) \
  asm("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;" : "=r"(low), "=r"(high) : "r"(a), "r"(b))  // error[asm-missing-early-clobber]: `%0` (`low`) is written before the last read of `%2` (`a`), which may be in the same register
__device__ void multiply(unsigned &l, unsigned &h, unsigned a, unsigned b) {
  MULTIPLY(l, h, a, b);
  MULTIPLY(h, l, l, h);
}

// A carry from macro to macro.
#define ADD_CC(r, a, b) asm("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b))
#define ADDC(r, a, b) asm("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b))
#define V_ADD_CC(r, a, b) asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b))
#define V_ADDC(r, a, b) asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b))
__device__ void carry(unsigned *x) {
  ADD_CC(x[0], x[0], x[2]);
  ADDC(x[1], x[1], x[3]);  // error[asm-carry-across-statements]: `addc.u32 %0, %1, %2` reads the carry of another statement, and not both are `volatile`
  V_ADD_CC(x[0], x[0], x[2]);
  V_ADDC(x[1], x[1], x[3]);
}

// With all arguments of the statement.
#define ASM(...) asm volatile(__VA_ARGS__)
__device__ void variadic(unsigned x, char c) {
  ASM("mov.u32 %0, %%clock;" : "=r"(x));
  ASM("mov.u32 %0, %1;" : "=r"(x) : "r"(c));  // error[asm-constraint-type-mismatch]: `c` does not fit the constraint `r`: `signed char` has 8 bits
}
