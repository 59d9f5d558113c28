// A function that is inlined is a part of the kernel.
__device__ __forceinline__ void spill() { asm volatile(".pragma \"enable_smem_spilling\";"); }
__global__ void kernel() { spill(); }
__global__ void itself() { asm volatile(".pragma \"enable_smem_spilling\";"); }
__device__ __noinline__ void function() { asm volatile(".pragma \"enable_smem_spilling\";"); }  // error[pragma]: pragma `enable_smem_spilling` belongs into a kernel
