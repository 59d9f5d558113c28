// Macros of the file that are specifiers of functions, `inline` among them.
#define inline __device__ __forceinline__
#define UNITS static __device__ __forceinline__
#ifdef PORTABLE
#define OTHER __device__
#else
#define OTHER __device__ __forceinline__
#endif
#define APART __device__ __noinline__

struct number {
  unsigned x[4];
  static inline void add(unsigned *a, const unsigned *b) {
    asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(a[0]) : "r"(b[0]));
    asm volatile("addc.cc.u32 %0, %0, %1;" : "+r"(a[1]) : "r"(b[1]));
  }
  inline unsigned sum(const number &other) {
    unsigned carry;
    add(x, other.x);
    asm volatile("addc.u32 %0, 0, 0;" : "=r"(carry));
    return carry;
  }
};
UNITS void of_units(unsigned *a) { asm volatile("add.cc.u32 %0, %0, 1;" : "+r"(a[0])); }
OTHER void of_other(unsigned *a) { asm volatile("add.cc.u32 %0, %0, 1;" : "+r"(a[0])); }
APART void apart(unsigned *a) { asm volatile("add.cc.u32 %0, %0, 1;" : "+r"(a[0])); }
UNITS unsigned carries(unsigned *a) {
  unsigned c, d, e;
  of_units(a);
  asm volatile("addc.u32 %0, 0, 0;" : "=r"(c));
  of_other(a);
  asm volatile("addc.u32 %0, 0, 0;" : "=r"(d));
  apart(a);
  asm volatile("addc.u32 %0, 0, 0;" : "=r"(e));  // warning[asm-carry-across-statements]: `addc.u32 %0, 0, 0` reads the carry of another statement over a call
  return c + d + e;
}
