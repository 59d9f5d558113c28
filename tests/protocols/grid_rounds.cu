// fault: "  __syncthreads(); // written\n" => ""
// fault: "atom.acq_rel.gpu.global.add.u32" => "atom.relaxed.gpu.global.add.u32"
// fault: "ld.acquire.gpu.global.u32 %0, [%1]; // turn" => "ld.relaxed.gpu.global.u32 %0, [%1]; // turn"
// fault: "  __syncthreads(); // all may go on\n" => ""
#include <cstdint>
__device__ __forceinline__ unsigned turn_of(unsigned* at) {
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1]; // turn" : "=r"(v) : "l"(at) : "memory");
  return v;
}
__device__ void all_blocks(unsigned* state) {
  __syncthreads(); // written
  if (threadIdx.x == 0) {
    unsigned turn, done;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(turn) : "l"(state + 1) : "memory");
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(done) : "l"(state) : "memory");
    if (done == gridDim.x - 1) {
      asm volatile("st.relaxed.gpu.global.u32 [%0], 0;" ::"l"(state) : "memory");
      asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(state + 1), "r"(turn + 1) : "memory");
    } else {
      while (turn_of(state + 1) == turn) {}
    }
  }
  __syncthreads(); // all may go on
}
__global__ void __launch_bounds__(128) smooth(float* one, float* other, unsigned* state, int rounds) {
  float *from = one, *to = other;
  const int own = blockIdx.x * 128 + threadIdx.x, next = (own + 1) % (gridDim.x * 128);
  for (int round = 0; round < rounds; round++) {
    to[own] = 0.5f * (__ldcg(from + own) + __ldcg(from + next));
    all_blocks(state);
    float* kept = from;
    from = to;
    to = kept;
  }
}
