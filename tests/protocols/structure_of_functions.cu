// fault: "ops.wait(); __syncthreads();" => "__syncthreads();"
// fault: "wait_group 0;" => "wait_group 1;"
#include <cuda_runtime.h>
struct Ops { void (*issue)(unsigned, const void*); void (*wait)(); };
__device__ void issue16(unsigned d, const void* s) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16; cp.async.commit_group;" :: "r"(d), "l"(s)); }
__device__ void wait0() { asm volatile("cp.async.wait_group 0;"); }
__global__ void __launch_bounds__(128) k(const float4* in, float4* out, int n) {
  __shared__ float4 s[128];
  Ops ops = { issue16, wait0 };
  for (int t = 0; t < n; ++t) {
    ops.issue(__cvta_generic_to_shared(s + threadIdx.x), in + t * 128 + threadIdx.x);
    ops.wait(); __syncthreads();
    out[t * 128 + threadIdx.x] = s[127 - threadIdx.x];
    __syncthreads();
  }
}
