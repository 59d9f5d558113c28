// oracle: refuses: these functions are those of OptiX, which takes the PTX instead of the assembler
// OptiX knows its own functions.
__device__ unsigned launch_index() { unsigned x; asm("call (%0), _optix_get_launch_index_x, ();" : "=r"(x)); return x; }
