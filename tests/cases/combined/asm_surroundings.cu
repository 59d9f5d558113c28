// oracle: accepts: what is inactive, not instantiated or not used is never assembled
// Statements in macros, templates, inactive branches, lambdas and arguments of macros are verified, at their places
// in the source, through escapes and pieces.

#define INCREMENT(i) asm("add.s32 %0, %0, 1;" : "=r"(i))  // error[asm-output-read-before-write]: `%0` (`i`) is an output and is read here before it is written

template <class T> struct Unused {
  static __device__ T f(T t) { asm("mov.b32\t%0,"
                                   " 1;\n\tadd.f32 %0, %0, %x;" : "=r"(t)); return t; }  // error[undeclared-name]: `%x` is not declared
};

#if 0
__device__ void never() { asm("nonsense;"); }
#endif

#if __CUDA_ARCH__ >= 1000
__device__ void newer() { asm volatile("tcgen05.fence::before_thread_sync; add.s32 1, 2;"); }  // error[operand-count]: `add.s32` takes 3 operands, 2 are given
#elif __CUDA_ARCH__ < 700
__device__ void older(int x) { asm volatile("{ .reg .s32 r; add.s32 r, %0; }" :: "r"(x)); }  // error[operand-count]: `add.s32` takes 3 operands, 2 are given
#endif

__device__ void inside(int x) {
  auto lambda = [&] { asm("add.s32 %0, 1, 2" : "=r"(x)); };  // error[asm-missing-separator]: a `;` is missing after this instruction
  lambda();
}

// The host's assembler is not ours.
inline void pause() { asm volatile("pause"); }
__host__ void host(int x) { asm volatile("add %0, %0" : "=a"(x)); }
#ifndef __CUDA_ARCH__
void elsewhere(int x) { asm volatile("" : "=g"(x)); }
#endif
