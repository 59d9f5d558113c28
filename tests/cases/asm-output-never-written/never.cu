// An output that the template does not write gets whatever its register held.

__device__ int wrong_number(int a) {
  int r, unused;
  asm("mov.s32 %0, %2;" : "=r"(r), "=r"(unused) : "r"(a));  // warning[asm-output-never-written]: `%1` (`unused`) is an output and is never written
  return r;
}

__device__ void address(long long &p) { asm volatile("st.global.u32 [%1], 1;" : "=l"(p) : "l"(p)); }  // warning[asm-output-never-written]: `%0` (`p`) is an output and is never written

// `+` keeps its value, and the compiler knows nothing of it.
__device__ void barrier(int &x) { asm volatile("" : "+r"(x)); }
