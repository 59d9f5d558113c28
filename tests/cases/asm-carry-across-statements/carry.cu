// args: --info asm-clobber
// The carry flag from one statement to the next.

__device__ unsigned lost(unsigned a, unsigned b) {
  unsigned c;
  asm("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
  asm("addc.u32 %0, 0, 0;" : "=r"(c));  // error[asm-carry-across-statements]: `addc.u32 %0, 0, 0` reads the carry of another statement, and not both are `volatile`
  return c;
}

// The borrow of the same article.
__device__ unsigned borrow(unsigned a, unsigned b) {
  unsigned c;
  asm volatile("sub.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
  asm("subc.u32 %0, 0, 0;" : "=r"(c));  // error[asm-carry-across-statements]: `subc.u32 %0, 0, 0` reads the carry of another statement, and not both are `volatile`
  return c;
}

// A straight line of volatile statements works.
__device__ unsigned volatiles(unsigned a, unsigned b) {
  unsigned c;
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
  asm volatile("addc.u32 %0, 0, 0;" : "=r"(c));
  return c;
}

__device__ unsigned kind(unsigned a, unsigned b) {
  unsigned c;
  asm volatile("sub.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
  asm volatile("addc.u32 %0, 0, 0;" : "=r"(c));  // error[asm-carry-across-statements]: `addc.u32 %0, 0, 0` reads the carry of another statement, which is of the other kind: a carry is no borrow
  return c;
}

__device__ unsigned flow(unsigned a, unsigned b) {
  unsigned c = 0;
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
  if (b > 7) asm volatile("addc.u32 %0, 0, 0;" : "=r"(c));
  return c;
}

// Not every way has a carry.
__device__ unsigned around(unsigned a, unsigned b) {
  unsigned c = 0;
  if (b > 7) asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
  asm volatile("addc.u32 %0, 0, 0;" : "=r"(c));  // warning[asm-carry-across-statements]: `addc.u32 %0, 0, 0` reads the carry of another statement, which not every path comes through
  return c;
}
__device__ unsigned around_else(unsigned a, unsigned b) {
  unsigned c = 0;
  if (b > 7) c = 1;
  else asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
  asm volatile("addc.u32 %0, %0, 0;" : "+r"(c));  // warning[asm-carry-across-statements]: `addc.u32 %0, %0, 0` reads the carry of another statement, which not every path comes through
  return c;
}
__device__ unsigned from_label(unsigned a, unsigned b) {
  unsigned c = 0;
  if (b > 9) goto end;
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
end:
  asm volatile("addc.u32 %0, 0, 0;" : "=r"(c));  // warning[asm-carry-across-statements]: `addc.u32 %0, 0, 0` reads the carry of another statement, which not every path comes through
  return c;
}

// Every way has one.
__device__ unsigned both_ways(unsigned a, unsigned b) {
  unsigned c = 0;
  if (b > 7) asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
  else asm volatile("add.cc.u32 %0, %0, %0;" : "+r"(a));
  asm volatile("addc.u32 %0, 0, 0;" : "=r"(c));
  return c;
}
__device__ unsigned before_and_in_branch(unsigned a, unsigned b) {
  unsigned c = 0;
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
  if (b > 7) asm volatile("addc.cc.u32 %0, %0, 0;" : "+r"(a));
  else c = 1;
  asm volatile("addc.u32 %0, %0, 0;" : "+r"(c));
  return c;
}

__global__ void first(unsigned *p) {
  unsigned c;
  asm volatile("addc.u32 %0, 0, 0;" : "=r"(c));  // error[asm-carry-across-statements]: `addc.u32 %0, 0, 0` reads the carry, and no statement of this kernel makes one
  *p = c;
}

// Helpers are judged where they are called.
__device__ __forceinline__ unsigned add_cc(unsigned a, unsigned b) {
  unsigned r;
  asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ __forceinline__ unsigned addc(unsigned a, unsigned b) {
  unsigned r;
  asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ void helpers(unsigned *x) {
  x[0] = add_cc(x[0], x[2]);
  x[1] = addc(x[1], x[3]);
}

// A call that need not be inlined.
__device__ __noinline__ unsigned apart(unsigned a) { asm volatile("xor.b32 %0, %0, 1;" : "+r"(a)); return a; }
__device__ unsigned over_call(unsigned a, unsigned b) {
  unsigned c;
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
  b = apart(b);
  asm volatile("addc.u32 %0, %1, 0;" : "=r"(c) : "r"(b));  // warning[asm-carry-across-statements]: `addc.u32 %0, %1, 0` reads the carry of another statement over a call
  return c;
}

// An unrolled loop is a straight line, and the carry outlives the rounds of another one.
__device__ void loops(unsigned *x, const unsigned *y) {
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(x[0]) : "r"(y[0]));
#pragma unroll
  for (int i = 1; i < 4; i++) asm volatile("addc.cc.u32 %0, %0, %1;" : "+r"(x[i]) : "r"(y[i]));
}
__device__ unsigned plain_loop(unsigned *x, const unsigned *y, int n) {
  unsigned c;
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(x[0]) : "r"(y[0]));
  for (int i = 1; i < n; i++) asm volatile("addc.cc.u32 %0, %0, %1;" : "+r"(x[i]) : "r"(y[i]));
  asm volatile("addc.u32 %0, 0, 0;" : "=r"(c));
  return c;
}

// Whoever calls this, the compiler may move it away from what makes the carry.
__device__ __forceinline__ unsigned loose(unsigned a) {
  unsigned r;
  asm("addc.u32 %0, %1, 0;" : "=r"(r) : "r"(a));  // error[asm-carry-across-statements]: `addc.u32 %0, %1, 0` reads the carry of some other statement, and is not `volatile`
  return r;
}
