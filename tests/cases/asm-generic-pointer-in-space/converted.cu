// A source that keeps converted addresses in pointers: nobody knows which pointers are generic in it.

__device__ unsigned long long *convert(unsigned long long *generic) {
  unsigned long long *shared;
  asm volatile("cvta.to.shared.u64 %0, %1;" : "=l"(shared) : "l"(generic));
  return shared;
}

__device__ void load(unsigned long long *shared, unsigned long long &a, unsigned long long &b) {
  asm volatile("ld.volatile.shared.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(shared) : "memory");
}

// Of another space it has none.
__device__ void load_local(int *generic, int &a) {
  asm volatile("ld.volatile.local.s32 %0, [%1];" : "=r"(a) : "l"(generic) : "memory");  // warning[asm-generic-pointer-in-space]: `%1` (`generic`) is a generic pointer, used as an address in `.local` space
}
