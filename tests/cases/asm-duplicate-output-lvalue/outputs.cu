// Two registers, one variable.

__device__ void split(unsigned &a, unsigned &b, unsigned long long x) {
  asm("mov.b64 {%0, %1}, %2;" : "=r"(a), "=r"(a) : "l"(x));  // warning[asm-duplicate-output-lvalue]: `%0` and `%1` are both stored to `a`
}

__device__ void split_right(unsigned &a, unsigned &b, unsigned long long x) {
  asm("mov.b64 {%0, %1}, %2;" : "=r"(a), "=r"(b) : "l"(x));
}

__device__ void elements(unsigned *a, unsigned long long x) {
  asm("mov.b64 {%0, %1}, %2;" : "=r"(a[0]), "=r"(a[1]) : "l"(x));
}
