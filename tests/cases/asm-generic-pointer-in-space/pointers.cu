// A pointer of C++ is a generic address.

__device__ int load(int *p) { int x; asm volatile("ld.shared.s32 %0, [%1];" : "=r"(x) : "l"(p)); return x; }  // warning[asm-generic-pointer-in-space]: `%1` (`p`) is a generic pointer, used as an address in `.shared` space

__device__ int load_right(int *p) {
  int x;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(x) : "r"((unsigned)__cvta_generic_to_shared(p)));
  return x;
}

__device__ int load_generic(int *p) { int x; asm volatile("ld.s32 %0, [%1];" : "=r"(x) : "l"(p)); return x; }

__device__ int load_global(int *p) { int x; asm volatile("ld.global.s32 %0, [%1];" : "=r"(x) : "l"(p)); return x; }

// Instructions with operands that may be left out.
__device__ void copy(int *to, const int *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "l"(to), "l"(from));  // warning[asm-generic-pointer-in-space]: `%0` (`to`) is a generic pointer, used as an address in `.shared` space
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
}

// Without a space in its spelling, the instruction takes generic addresses.
__device__ void arrive(unsigned long long *barrier) { asm volatile("mbarrier.arrive.b64 _, [%0];" :: "l"(barrier) : "memory"); }
__device__ void arrive_shared(unsigned long long *barrier) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "l"(barrier) : "memory"); }  // warning[asm-generic-pointer-in-space]: `%0` (`barrier`) is a generic pointer, used as an address in `.shared` space
