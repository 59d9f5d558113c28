// Device code has pointers of 64 bits, on each host.
__device__ unsigned load(const unsigned *p) {
  unsigned v;
#if defined(__LP64__)
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
#else
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "r"(p));
#endif
#if defined(_WIN64) || defined(__x86_64__)
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
#else
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "r"(p));
#endif
#ifdef __i386__
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "r"(p));
#endif
  return v;
}

// Where hosts differ, both branches count.
__device__ void both(unsigned &v) {
#ifdef _WIN32
  asm("mov.u64 %0, 2;" : "=r"(v));  // warning[asm-constraint-type-mismatch]: `mov.u64` takes a 64-bit integer here, `%0` is `.b32`
#else
  asm("mov.u64 %0, 1;" : "=r"(v));  // error[asm-constraint-type-mismatch]: `mov.u64` takes a 64-bit integer here, `%0` is `.b32`
#endif
}

// So they do within a statement, and what is never compiled does not.
__device__ unsigned within(const unsigned *p) {
  unsigned v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) :
#if defined(__LP64__) || defined(_WIN64)
    "l"(p)
#else
    "r"(p)
#endif
#if defined(__i386__)
    , "q"(p)
#else
    : "memory"
#endif
  );
  asm volatile(
#if 0
    "mov.u64 %0, 1;"
#elif defined(SOMETHING)
    "mov.u16 %0, 2;"  // error[asm-constraint-type-mismatch]: `mov.u16` takes a 16-bit integer here, `%0` is `.b32`
#else
    "mov.u32 %0, 3;"
#endif
    : "=r"(v));
  return v;
}
