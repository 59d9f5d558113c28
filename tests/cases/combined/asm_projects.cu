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
// The selector in a register that only ever has this value.
__device__ unsigned reversed_by_register(unsigned x) {
  unsigned r;
  asm("{ .reg .b32 ign, mask; mov.b32 mask, 0x0123; prmt.b32 %0, %1, ign, mask; }" : "=r"(r) : "r"(x));
  return r;
}
__device__ unsigned reversed_by_register_wrong(unsigned x, unsigned y) {
  unsigned r;
  asm("{ .reg .b32 ign, mask; mov.b32 mask, 0x4123; prmt.b32 %0, %1, ign, mask; }" : "=r"(r) : "r"(x));  // error[uninitialized-register]: `ign` is read, but nothing sets it before
  return r;
}
__device__ unsigned reversed_by_other_register(unsigned x, unsigned mask) {
  unsigned r;
  asm("{ .reg .b32 ign; prmt.b32 %0, %1, ign, %2; }" : "=r"(r) : "r"(x), "r"(mask));  // error[uninitialized-register]: `ign` is read, but nothing sets it before
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

// Text of constants inside a word: an array of characters, and a number that a template's parameter gives.
__device__ constexpr char type_name[] = "f16";
template <int K> __device__ void shaped(unsigned (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k%11.row.col.f32.%10.%10.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(type_name), "n"(K));
}
