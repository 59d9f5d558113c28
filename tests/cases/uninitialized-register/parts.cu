// args: --target sm_100a
// Outputs of which a part is not set. What the program does with that part, the statement does not tell.

__device__ unsigned filled_up(float a, float b) {
  unsigned packed;
  asm("{ .reg .b8 b0, b1, b2, b3; cvt.rn.satfinite.e2m1x2.f32 b0, %2, %1; mov.b32 %0, {b0, b1, b2, b3}; }" : "=r"(packed) : "f"(a), "f"(b));
  return packed & 0xff;
}

__device__ unsigned long long half_of_it(unsigned a) {
  unsigned long long both;
  asm("{ .reg .b32 low, high; mov.b32 low, %1; mov.b64 %0, {low, high}; }" : "=l"(both) : "r"(a));  // warning[uninitialized-register]: `high` is read, but nothing sets it before
  return both;
}

__device__ unsigned none_of_it(unsigned a) {
  unsigned sum;
  asm("{ .reg .b32 t; add.u32 %0, t, %1; }" : "=r"(sum) : "r"(a));  // error[uninitialized-register]: `t` is read, but nothing sets it before
  return sum;
}
