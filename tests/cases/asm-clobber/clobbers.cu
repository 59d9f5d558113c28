// Device code has one clobber.

__device__ void carry(unsigned &a, unsigned b) { asm("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b) : "cc"); }  // error[asm-clobber]: device code has no clobber `cc`
// ---
__device__ void memory(int *p) { asm volatile("st.global.u32 [%0], 0;" :: "l"(p) : "memory"); }
