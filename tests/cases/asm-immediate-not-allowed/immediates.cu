// A constant where the instruction takes a register.

__device__ void destination() { asm volatile("mov.u32 %0, 0;" :: "n"(0)); }  // error[asm-immediate-not-allowed]: `mov.u32` takes a 32-bit integer here, `0` is an integer immediate
// ---
__device__ void source(int &x) { asm("add.s32 %0, %0, %1;" : "+r"(x) : "n"(7)); }
// ---
template <int N> __device__ void parameter(int &x) { asm("add.s32 %0, %0, %1;" : "+r"(x) : "n"(N)); }
