// Comments in templates.

__device__ int swallowed(int x) {
  asm("add.s32 %0, %0, 1; // one"
      "add.s32 %0, %0, 2;" : "+r"(x));  // warning[asm-code-in-comment]: this string is part of the comment in the string before it
  return x;
}

__device__ int twice(int x) {
  asm("{ .reg .s32 t; // temporary\n"
      "mov.s32 t, %0; // copy "
      "add.s32 t, t, 1; "  // warning[asm-code-in-comment]: this string is part of the comment in the string before it
      "add.s32 t, t, 2;\n"
      "mov.s32 %0, t; }" : "+r"(x));
  return x;
}

// Here the line ends, here the comment is PTX's other kind or that of C++, and here nothing is lost.
__device__ int kept(int x) {
  asm("add.s32 %0, %0, 1; // one\n"
      "add.s32 %0, %0, 2;" : "+r"(x));
  asm("add.s32 %0, %0, 1; /* one */"
      "add.s32 %0, %0, 2;" : "+r"(x));
  asm("add.s32 %0, %0, 1;"  // one
      "add.s32 %0, %0, 2;" : "+r"(x));
  asm("add.s32 %0, %0, 1; // one "
      "and two" : "+r"(x));
  asm("// add.s32 %0, %0, 1;" : "+r"(x));
  return x;
}
