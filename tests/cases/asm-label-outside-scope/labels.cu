// A label outside braces is declared again by every copy.

__device__ void again(int *p) {
  asm volatile("again: st.global.u32 [%0], 0; bra after; after: membar.gl;" :: "l"(p) : "memory");  // warning[asm-label-outside-scope]: label `again` is declared outside braces  // warning[asm-label-outside-scope]: label `after` is declared outside braces
}

__device__ void again_right(int *p) {
  asm volatile("{ again: st.global.u32 [%0], 0; bra after; after: membar.gl; }" :: "l"(p) : "memory");
}

__device__ void unique(int *p) {
  asm volatile("bra after%=; after%=: st.global.u32 [%0], 0;" :: "l"(p) : "memory");
}
// ---
__device__ void two(int n) {
  asm volatile("{ .reg .pred p; FIRST: setp.ne.s32 p, %0, 0; @p bra SECOND; bra FIRST; SECOND: }" :: "r"(n));
  asm volatile(".reg .s32 t; FIRST: bra.uni SECOND;\nSECOND: mov.s32 t, %0;" :: "r"(n));  // warning[asm-register-outside-scope]: register `t` is declared outside braces  // warning[asm-label-outside-scope]: label `FIRST` is declared outside braces  // warning[asm-label-outside-scope]: label `SECOND` is declared outside braces
}
