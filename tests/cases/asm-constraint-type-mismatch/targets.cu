// args: --target sm_80,sm_90a,sm_100a
// `f` and `d` are registers of floating-point type up to sm_90 and untyped from sm_100 on.

__device__ void on_some(float &f) { asm("add.s32 %0, %0, 1;" : "+f"(f)); }  // error[asm-constraint-type-mismatch]: `add.s32` takes a 32-bit integer here, `%0` is `.f32`

#if __CUDA_ARCH__ >= 1000
__device__ void where_it_works(float &f) { asm("add.s32 %0, %0, 1;" : "+f"(f)); }
#endif

__device__ void everywhere(float &f) { asm("add.f32 %0, %0, %0;" : "+f"(f)); }
