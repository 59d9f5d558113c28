// However it is spelled, a statement is found, and its findings have their places.

// A line continuation breaks a word.
__device__ unsigned broken_keyword() { unsigned t; as\
m("mov.u32 %0, %%clock;" : "=r"(t)); return t; }  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
__device__ unsigned broken_alternative() { unsigned t; __a\
sm\
__("mov.u32 %0, %%clock;" : "=r"(t)); return t; }  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
__device__ unsigned broken_qualifier() { unsigned t; asm vol\
atile("mov.u32 %0, %%clock;" : "=r"(t)); return t; }
__device__ unsigned broken_instruction() { unsigned t; asm volatile("mov.u32 %0, %%cl\
ock;" : "=r"(t)); return t; }
#define NOW(t) as\
m("mov.u32 %0, %%clock;" : "=r"(t))  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
__device__ unsigned broken_in_macro() { unsigned t; NOW(t); return t; }
// A comment \
asm("foo");
// ---
// Digraphs.
__device__ unsigned digraphs(unsigned (&t)<:2:>) <% asm("mov.u32 %0, %%clock;" : "=r"(t<:1:>)); return t<:1:>; %>  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
%:define LATER(t) asm("mov.u32 %0, %%clock;" : "=r"(t))  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
__device__ unsigned digraphs_in_macro() <% unsigned t; LATER(t); return t; %>
// ---
// Every keyword and qualifier.
__device__ unsigned gnu() { unsigned t; __asm__("mov.u32 %0, %%clock;" : "=r"(t)); return t; }  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
__device__ unsigned gnu_volatile() { unsigned t; __asm__ __volatile__("mov.u32 %0, %%clock;" : "=r"(t)); return t; }
__device__ unsigned short_one() { unsigned t; __asm("mov.u32 %0, %%clock;" : "=r"(t)); return t; }  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
__device__ unsigned inlined() { unsigned t; asm inline("mov.u32 %0, %%clock;" : "=r"(t)); return t; }  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
__device__ unsigned gnu_inlined() { unsigned t; __asm__ __inline__("mov.u32 %0, %%clock;" : "=r"(t)); return t; }  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
__device__ unsigned both() { unsigned t; asm volatile inline("mov.u32 %0, %%clock;" : "=r"(t)); return t; }
// ---
// Strings of every kind.
__device__ unsigned raw() { unsigned t; asm(R"(mov.u32 %0, %%clock;)" : "=r"(t)); return t; }  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
__device__ unsigned raw_delimited() { unsigned t; asm(R"ptx(mov.u32 %0, )ptx" R"(%%clock;)" : "=r"(t)); return t; }  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
__device__ unsigned raw_prefixed() { unsigned t; asm(u8R"(mov.u32 %0, %%clock;)" : "=r"(t)); return t; }  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
__device__ unsigned prefixed() { unsigned t; asm(u8"mov.u32 %0, " "%%clock;" : "=r"(t)); return t; }  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
__device__ unsigned escaped() { unsigned t; asm("mov\x2eu32 %0, \045%clock\073" : "=r"(t)); return t; }  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
__device__ unsigned lines() {
  unsigned t;
  asm(R"(
    // %0 is the time
    mov.u32 %0, %%clock;  // error[asm-side-effect-not-volatile]: `mov.u32 %0, %clock` reads a counter that changes by itself, and the statement is not `volatile`
  )" : "=r"(t));
  return t;
}
