// oracle: refuses: what declares the types of libraries is not here
// A file may keep the short names of CUDA's header away.

#define CUDA_NO_HALF
#include <cuda_fp16.h>
#include "half.h"
__device__ void kept_away(half x) { asm volatile("// %0" :: "h"(x)); }
