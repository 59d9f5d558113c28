#define WAIT "wait.%=: \n"
__device__ __forceinline__ uint32_t add(uint32_t a, uint32_t b) {
  uint32_t r;
  asm volatile("{\n\t.reg .b32 %%t<2>; // scratch\n"
               "@%%p mov.u32 %%t1, %laneid;\n\t"
               "add.cc.u32 %0, %1, %[right];\n}"
               : "=&r"(r)                 // the sum
               : "r"(f(a, "x)")), [right] "rn"(b)
               : "memory");
  asm("bar.sync 0;" ::: "memory");
  __asm__ __volatile__(R"(mov.u32 %0, 0f3F800000;)" : "=r"(r));
  asm(WAIT "ret;");
  return r + 1; // asm("mov.u32 %0, 1;")
}
