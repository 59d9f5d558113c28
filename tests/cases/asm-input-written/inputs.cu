// An input has to keep its value.

__device__ void twice(int *p, int x) {
  asm volatile("add.s32 %1, %1, %1; st.global.s32 [%0], %1;" :: "l"(p), "r"(x) : "memory");  // error[asm-input-written]: `%1` (`x`) is an input and is written here
}

__device__ void twice_right(int *p, int x) {
  asm volatile("add.s32 %0, %0, %0; st.global.s32 [%1], %0;" : "+r"(x) : "l"(p) : "memory");
}

// The second destination of an instruction is a destination too.
__device__ void split(unsigned &low, unsigned high, unsigned long long x) {
  asm("mov.b64 {%0, %1}, %2;" : "=r"(low) : "r"(high), "l"(x));  // error[asm-input-written]: `%1` (`high`) is an input and is written here
}
// ---
// What the template never reads is no input at all.
__device__ void only_written(int *p, int x) { asm volatile("ld.s32 %1, [%0];" :: "l"(p), "r"(x) : "memory"); }  // error[asm-input-written]: `%1` (`x`) is an input and is written here
