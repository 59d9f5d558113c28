// Device code has one clobber.

__device__ void carry(unsigned &a, unsigned b) { asm("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b) : "cc"); }  // error[asm-clobber]: device code has no clobber `cc`
// ---
__device__ void memory(int *p) { asm volatile("st.global.u32 [%0], 0;" :: "l"(p) : "memory"); }
// ---
__device__ void flags(int x) { asm volatile("membar.gl;" :: "r"(x) : "cc"); }  // warning[asm-unused-operand]: the template does not name `%0` (`x`)  // error[asm-clobber]: device code has no clobber `cc`
// ---
__device__ void register_named(int x) { asm volatile("membar.gl;" :: "r"(x) : "memory", "r1"); }  // warning[asm-unused-operand]: the template does not name `%0` (`x`)  // error[asm-clobber]: device code has no clobber `r1`
// ---
__device__ void memory_only(int x) { asm volatile("membar.gl; // %0" :: "r"(x) : "memory"); }
// ---
// Strings side by side are one, as formatters break them.
__device__ void two_strings(int *p) {
  asm volatile("red.global.add.u32 [%0], 1;" :: "l"(p)
               : "memor"
                 "y");
}
// ---
__device__ void two_strings_wrong(int *p) { asm volatile("red.global.add.u32 [%0], 1;" :: "l"(p) : "mem" "ori"); }  // error[asm-clobber]: device code has no clobber `memori`
