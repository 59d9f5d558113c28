// oracle: accepts: what is not compiled for the device is never assembled
// Assembler of the host and of other devices is no PTX.

static inline unsigned long long cycles() {
  unsigned low, high;
  __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
  return ((unsigned long long)high << 32) | low;
}
static inline void *stack() { void *sp; asm("mov %%rsp, %0" : "=r"(sp)); return sp; }
static inline int add(int a, int b) { asm("add %1, %0" : "+r"(a) : "r"(b)); return a; }
static inline void flags(int a, int b) { asm volatile("add %1, %0; adc $0, %0" : "+r"(a) : "r"(b) : "cc"); }
static inline void exchange(int *p, int v) { asm volatile("lock; xchg %0, %1" : "+m"(*p), "+r"(v) : : "memory"); }
static inline void call() { asm volatile("call *%0\n\tret" : : "r"(0)); }
inline bool carry(long a, long b) { bool c; asm("add %2, %1; setc %0" : "=q"(c), "+r"(a) : "r"(b)); return c; }

#if defined(__aarch64__)
inline void barrier() { asm volatile("dmb ish" ::: "memory"); }
inline void vector(float *p) { asm volatile("ld1 {v0.4s}, [%0]; fadd v0.4s, v0.4s, v1.4s" : : "r"(p) : "v0"); }
inline int branch(int a) { asm volatile("cmp %w0, #0; b.eq 1f; add %w0, %w0, #1; 1:" : "+r"(a)); return a; }
inline void neon(void *p) { asm volatile("vadd.u32 q0, q1, q2; vst1.32 {d0}, [%0]" : : "r"(p) : "q0", "memory"); }
#endif

#ifdef _MSC_VER
void microsoft() { __asm { mov eax, 1 } __asm int 3 }
#endif

__asm__(".symver old_name, name@VERSION");
asm(".globl start\nstart: ret");
int renamed() asm("other_name");

#ifdef __HIP_PLATFORM_AMD__
__device__ void wait() { asm volatile("s_waitcnt vmcnt(0)"); }
__device__ float fused(float a, float b) { float d; asm volatile("v_add_f32 %0, %1, %2" : "=v"(d) : "v"(a), "v"(b)); return d; }
#endif
#if __CUDA_ARCH__ < 700 && !defined(__CUDA_ARCH__)
__device__ void never() { asm volatile("s_nop 0\n\tv_mov_b32 %0, 1" : "=v"(1)); }
#endif

// PTX in functions that do not say where they run, and in macros.
inline unsigned lane() { unsigned r; asm("mov.u32 %0, %%laneid" : "=r"(r)); return r; }  // error[asm-missing-separator]: a `;` is missing after this instruction
#define NOW(t) asm("mov.u32 %0, %%clock;" : "=r"(t))  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
