// oracle: accepts: functions that do not say that they are for the device are compiled for the host
// args: --target sm_100a
// Shapes of real projects, right and wrong.

// A scope over several statements, in a function that says nothing of the device.
struct field {
  unsigned limbs[2];
  inline void multiply_by_five(int pred) {
    asm("{ .reg.pred %pred; .reg.b32 %t, %a;");
    asm("setp.ne.u32 %pred, %0, 0;" : : "r"(pred));
    asm volatile("@%pred shl.b32 %%t, %0, 2; @%pred mov.b32 %%a, %0;"
        "@%pred add.cc.u32 %0, %0, %%t;" : "+r"(limbs[0]));
    asm volatile("@%pred shf.l.wrap.b32 %%t, %%a, %0, 2;"
        "@%pred addc.u32 %0, %0, %%t;" : "+r"(limbs[1]));
    asm("}");
  }
};

// The selector takes no byte of the second source, so it need not be set; here it takes one.
__device__ unsigned reversed(unsigned x) {
  unsigned r;
  asm("{ .reg .b32 ign; prmt.b32 %0, %1, ign, 0x0123; }" : "=r"(r) : "r"(x));
  return r;
}
__device__ unsigned reversed_wrong(unsigned x) {
  unsigned r;
  asm("{ .reg .b32 ign; prmt.b32 %0, %1, ign, 0x4123; }" : "=r"(r) : "r"(x));  // error[uninitialized-register]: `ign` is read, but nothing sets it before
  return r;
}

// Outputs that are there only where another one says so.
__device__ unsigned query(unsigned address, unsigned &x, unsigned &y, unsigned &z) {
  unsigned valid;
  asm volatile("{\n"
      ".reg .pred p; .reg .b128 handle;\n"
      "ld.shared.b128 handle, [%4];\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, handle;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "@!p bra.uni DONE;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%1, %2, %3, _}, handle;\n"
      "DONE:\n"
      "}" : "=r"(valid), "=r"(x), "=r"(y), "=r"(z) : "r"(address) : "memory");  // warning[asm-output-conditionally-written]: `%1` (`x`) is an output and is not written on every path  // warning[asm-output-conditionally-written]: `%2` (`y`) is an output and is not written on every path  // warning[asm-output-conditionally-written]: `%3` (`z`) is an output and is not written on every path
  return valid;
}
