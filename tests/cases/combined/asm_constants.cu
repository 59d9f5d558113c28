// args: --target sm_100a
// Constants whose value is not known are parts of words, of expressions and of lists.

template <int N> __device__ void offset(const unsigned *p, unsigned &r) { asm volatile("ld.global.u32 %0, [%1 + %2];" : "=r"(r) : "l"(p), "n"(N)); }
template <int N> __device__ void scaled(const unsigned *p, unsigned &r) { asm volatile("ld.global.u32 %0, [%1+%2*4];" : "=r"(r) : "l"(p), "n"(N)); }
template <int N> __device__ void operand() { asm volatile("cp.async.wait_group %0;" :: "n"(N)); }
template <int N> __device__ void registers(unsigned &r) { asm volatile("{ .reg .b32 t<%1>; mov.u32 t2, 5; mov.u32 %0, t2; }" : "=r"(r) : "n"(N)); }
template <int N> __device__ void name(unsigned &r) { asm volatile("{ .reg .b32 t%1; mov.u32 t%1, 5; mov.u32 %0, t%1; }" : "=r"(r) : "n"(N)); }
template <int N> __device__ void expression(unsigned &r) { asm volatile("add.u32 %0, %0, (%1 << 2) + 1;" : "+r"(r) : "n"(N)); }
template <int N> __device__ void array() { asm volatile("{ .shared .align 16 .b8 s[%0]; }" :: "n"(N)); }
template <int N> __device__ void relinquish() { asm volatile("tcgen05.relinquish_alloc_permit.cta_group::%0.sync.aligned;" :: "n"(N)); }
template <int N> __device__ void vector(const unsigned *p, unsigned &r, unsigned &s) { asm volatile("ld.global.v%3.u32 {%0, %1}, [%2];" : "=r"(r), "=r"(s) : "l"(p), "n"(N)); }
__global__ void uses(unsigned *p) { offset<4>(p, p[0]); scaled<4>(p, p[0]); operand<1>(); registers<3>(p[0]); name<7>(p[0]); expression<2>(p[0]); array<16>(); vector<2>(p, p[0], p[1]); }
// ---
// Whichever number stands for `%1`, `cta_group::%1` needs the space behind `.sync.aligned`.
template <int N> __device__ void allocate(unsigned p) { asm volatile("tcgen05.alloc.cta_group::%1.sync.shared::cta.b32 [%0], 32;" :: "r"(p), "n"(N)); }  // error[missing-modifier]: `tcgen05.alloc.cta_group::1.sync.shared::cta.b32` lacks its modifier `.aligned`
template __device__ void allocate<1>(unsigned p);
