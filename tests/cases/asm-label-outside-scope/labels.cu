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
