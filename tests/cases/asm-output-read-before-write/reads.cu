// `=` is not passed in.

__device__ void increment(int &i) { asm("add.s32 %0, %0, 1;" : "=r"(i)); }  // error[asm-output-read-before-write]: `%0` (`i`) is an output and is read here before it is written

__device__ void increment_right(int &i) { asm("add.s32 %0, %0, 1;" : "+r"(i)); }

__device__ void written_first(int &i, int j) { asm("mov.s32 %0, %1; add.s32 %0, %0, 1;" : "=r"(i) : "r"(j)); }

// As an address, in a vector, as a source of a guarded instruction.
__device__ void elsewhere(long long &p, unsigned &x, int &y) {
  asm volatile("st.global.u32 [%0], 1;" : "=l"(p));  // error[asm-output-read-before-write]: `%0` (`p`) is an output and is read here before it is written
  asm("mov.b64 %0, {%1, %1};" : "=l"(p), "=r"(x));  // error[asm-output-read-before-write]: `%1` (`x`) is an output and is read here before it is written
  asm("{ .reg .pred q; setp.ne.s32 q, %1, 0; @q mov.s32 %0, 1; add.s32 %0, %0, 1; }" : "=&r"(y) : "r"(x));  // warning[asm-output-read-before-write]: `%0` (`y`) is an output and is read here and is not written before on every path
}
