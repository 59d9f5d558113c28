// args: --compiler clang
// clang takes a structure for the integer of its size.

struct __half { unsigned short bits; };

__device__ short bits(const __half h) { short i; asm("mov.b16 %0, %1;" : "=h"(i) : "h"(h)); return i; }

__device__ __half sum(const __half a, const __half b) {
  __half x;
  asm("add.f16 %0, %1, %2;" : "=h"(x) : "h"(a), "h"(b));
  return x;
}
