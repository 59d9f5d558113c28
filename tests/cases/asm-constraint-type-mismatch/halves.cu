// oracle: refuses: what declares the types of libraries is not here
// The names of halves without underscores are those of CUDA behind the `#include` of its header, where no other file may
// have declared them.

#include <cuda_bf16.h>
namespace { __device__ void brain(const nv_bfloat16 *x) { asm volatile("// %0" :: "h"(x[1])); } }  // error[asm-constraint-type-mismatch]: `x[1]` does not fit the constraint `h`: `__nv_bfloat16` is no scalar type
__device__ void before(half x) { asm volatile("// %0" :: "h"(x)); }
// ---
#ifdef HALVES
#include "cuda_fp16.h"
__device__ void same_branch(half x) { asm volatile("// %0" :: "h"(x)); }  // error[asm-constraint-type-mismatch]: `x` does not fit the constraint `h`: `__half` is no scalar type
#else
#include "halves.h"
__device__ void other_branch(half x) { asm volatile("// %0" :: "h"(x)); }
#endif
__device__ void either(half x) { asm volatile("// %0" :: "h"(x)); }
// ---
#include <cuda_fp16.h>
#include "library/types.h"
__device__ void half_bits(half x) { asm volatile("// %0" :: "h"(x)); }  // error[asm-constraint-type-mismatch]: `x` does not fit the constraint `h`: `__half` is no scalar type
__device__ void pair(half2 x) { asm volatile("// %0" :: "r"(x)); }  // error[asm-constraint-type-mismatch]: `x` does not fit the constraint `r`: `__half2` is no scalar type
// ---
struct Halves { nv_half x; };
extern "C" __device__ void member(Halves h) { asm volatile("// %0" :: "h"(h.x)); }  // error[asm-constraint-type-mismatch]: `h.x` does not fit the constraint `h`: `__half` is no scalar type
// ---
namespace declared {
typedef unsigned short half;
__device__ void bits(half x) { asm volatile("// %0" :: "h"(x)); }
}
// ---
namespace library { __device__ void bits(half x) { asm volatile("// %0" :: "h"(x)); } }
__device__ void Bits::of(half x) { asm volatile("// %0" :: "h"(x)); }
struct Shorts : Types { __device__ void bits(half x) { asm volatile("// %0" :: "h"(x)); } };
template <typename half> __device__ void any(half x) { asm volatile("// %0" :: "h"(x)); }
// ---
__device__ void used(unsigned short *p) {
  using library::half;
  half x = p[0];
  asm volatile("// %0" :: "h"(x));
}
