// oracle: unasked: nvcc expands all of the macros, two million statements
// Macros that stand for more than is read.
#define A0 asm volatile("membar.gl;");
#define A1 A0 A0 A0 A0 A0 A0 A0 A0
#define A2 A1 A1 A1 A1 A1 A1 A1 A1
#define A3 A2 A2 A2 A2 A2 A2 A2 A2
#define A4 A3 A3 A3 A3 A3 A3 A3 A3
#define A5 A4 A4 A4 A4 A4 A4 A4 A4
#define A6 A5 A5 A5 A5 A5 A5 A5 A5
#define A7 A6 A6 A6 A6 A6 A6 A6 A6
__device__ void few() { A2 }
__device__ void many() { A7 }  // warning[asm-unexpanded-macro]: the macros of this file stand for too much text
__device__ void again() { A7 A7 }
