// Parts that the compiler refuses.

__device__ int comma(int a) { int r; asm("mov.s32 %0, %1;" : "=r"(r) : "r"(a), ); return r; }
// ---
__device__ void expression(int a) { asm volatile("// %0" :: "r"); }
// ---
__device__ void constraint(int a) { asm volatile("// %0" :: (a)); }
// ---
__device__ void empty(int a) { asm volatile("// %0" :: "r"()); }
// ---
__device__ void colons(int a) { asm volatile("// %0" : : "r"(a) : : : ); }
// ---
__device__ void wide() { asm volatile(L"membar.gl;"); }
// ---
__device__ void right() { asm volatile(u8"membar" ".gl;"); asm volatile(R"(membar.gl;)" :::); }
