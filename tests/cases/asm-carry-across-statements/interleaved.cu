// The carry of the first chain is replaced before it is read.

__global__ void interleaved(unsigned *p) {
  unsigned a = p[0], b = p[1], c = p[2], d = p[3];
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(p[4]));
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(b) : "r"(p[5]));
  asm volatile("addc.u32 %0, %0, %1;" : "+r"(c) : "r"(p[6]));  // warning[asm-carry-across-statements]: `addc.u32 %0, %0, %1` reads the carry of another statement, which is read twice and replaced one that nothing had read
  asm volatile("addc.u32 %0, %0, %1;" : "+r"(d) : "r"(p[7]));  // warning[asm-carry-across-statements]: `addc.u32 %0, %0, %1` reads the carry of another statement, which is read twice and replaced one that nothing had read
  p[0] = a; p[1] = b; p[2] = c; p[3] = d;
}

__global__ void one_after_the_other(unsigned *p) {
  unsigned a = p[0], b = p[1], c = p[2], d = p[3];
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(p[4]));
  asm volatile("addc.u32 %0, %0, %1;" : "+r"(c) : "r"(p[6]));
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(b) : "r"(p[5]));
  asm volatile("addc.u32 %0, %0, %1;" : "+r"(d) : "r"(p[7]));
  p[0] = a; p[1] = b; p[2] = c; p[3] = d;
}

// The last carry of the first chain is dropped.
__global__ void dropped(unsigned *p) {
  unsigned a = p[0], b = p[1], c = p[2];
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(p[4]));
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(b) : "r"(p[5]));
  asm volatile("addc.u32 %0, %0, %1;" : "+r"(c) : "r"(p[6]));
  p[0] = a; p[1] = b; p[2] = c;
}
