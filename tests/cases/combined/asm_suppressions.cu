// ptx-allow-file: asm-control-flow-escape
// Comments of C++ switch rules off as those of PTX do.

__device__ void stop() { asm volatile("exit;"); }

// ptx-allow: asm-output-read-before-write -- the value does not matter
__device__ void increment(int &i) { asm("add.s32 %0, %0, 1;" : "=r"(i)); }

__device__ void again(int &i) { asm("add.s32 %0, %0, 1;" : "=r"(i)); }  // error[asm-output-read-before-write]: `%0` (`i`) is an output and is read here before it is written

/* ptx-allow: asm-input-written */  // warning[unused-suppression]: `asm-input-written` is not reported here
__device__ void clean(int &i) { asm("add.s32 %0, %0, 1;" : "+r"(i)); }
