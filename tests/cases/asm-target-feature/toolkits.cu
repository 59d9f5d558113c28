// oracle: accepts: the nvcc that is asked is newer than the branches
// Branches for older toolkits are verified with what these had.
__device__ void by_toolkit(unsigned &v, unsigned long long &w) {
#if __CUDACC_VER_MAJOR__ >= 12
  asm("mov.u32 %0, 1;" : "=r"(v));
#elif __CUDACC_VER_MAJOR__ >= 11
  asm("mov.u64 %0, 1;" : "=r"(v));  // error[asm-constraint-type-mismatch]: `mov.u64` takes a 64-bit integer here, `%0` is `.b32`
#else
  asm("mov.u32 %0, %1;" : "=r"(v) : "l"(w));  // error[asm-constraint-type-mismatch]: `mov.u32` takes a 32-bit integer here, `%1` is `.b64`
#endif
#if CUDART_VERSION < 12000
  asm volatile("fence.proxy.async;");  // error[asm-target-feature]: `.async` of `fence` needs PTX 8.0, this module is PTX 7.8
#endif
#if CUDART_VERSION < 11000
  asm volatile("redux.sync.add.s32 %0, %0, -1;" : "+r"(v));  // error[asm-target-feature]: `redux.sync.add.s32` needs PTX 7.0, this module is PTX 6.5
#endif
}
