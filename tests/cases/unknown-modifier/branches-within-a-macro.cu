// args: --target sm_90
#include <stdint.h>
#if __CUDA_ARCH__ >= 700
#define RELAXED "relaxed.gpu"
#else
#define RELAXED "volatile"
#endif
#if SPECIAL
#define SCOPE "sys"
#else
#define SCOPE "gpu"
#endif

// Each branch says another modifier, and a statement that a macro makes has one of them.
#define LOAD(name, type, suffix, letter) \
  __device__ type name(const type *address) { \
    type value; \
    asm volatile("ld." RELAXED ".global." #suffix " %0, [%1];" : "=" #letter(value) : "l"(address) : "memory"); \
    return value; \
  }
LOAD(load_word, uint32_t, b32, r)
LOAD(load_long, uint64_t, b64, l)

#define ACQUIRE(name) \
  __device__ uint32_t name(const uint32_t *address) { \
    uint32_t value; \
    asm volatile("ld.acquire." SCOPE ".global.b32 %0, [%1];" : "=r"(value) : "l"(address) : "memory"); \
    return value; \
  }
ACQUIRE(acquire)
