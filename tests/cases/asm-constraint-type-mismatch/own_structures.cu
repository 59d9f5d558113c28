// oracle: refuses: whether a structure of the source's own has a conversion is not looked at
// A source that defines CUDA's structures itself replaces CUDA's headers, and is for clang.
struct __half {
    unsigned short u;
};

__device__ short bits(const __half h) {
    short i;
    asm("mov.b16 %0, %1;" : "=h"(i) : "h"(h));
    return i;
}
