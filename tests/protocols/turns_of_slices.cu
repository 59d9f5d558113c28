// fault: "ld.acquire.gpu.global.u32" => "ld.relaxed.gpu.global.u32"
// fault: "ld.acquire.gpu.global.u32" => "ld.global.u32"
// fault: "    __syncthreads(); // slice is stored\n" => ""
// fault: "st.release.gpu.global.u32" => "st.release.cta.global.u32"
// A block asks together whether it is its turn.
class Turn {
  unsigned* at;
  bool asks;
  unsigned seen;

 public:
  __device__ Turn(unsigned* at_) : at(at_), asks(threadIdx.x == 0), seen(~0u) {}
  __device__ void ask() {
    if (asks) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(at) : "memory");
  }
  __device__ void wait(unsigned own) {
    while (__syncthreads_and(seen != own)) ask();
  }
  __device__ void give(unsigned next) {
    __syncthreads(); // slice is stored
    if (asks) asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(next) : "memory");
  }
};
__global__ void __launch_bounds__(128) add_slices(const float* part, float* sum, unsigned* turns) {
  Turn turn(turns + blockIdx.x);
  float own = part[(blockIdx.y * gridDim.x + blockIdx.x) * 128 + threadIdx.x];
  float* to = sum + blockIdx.x * 128 + threadIdx.x;
  turn.wait(blockIdx.y);
  if (blockIdx.y > 0) own += *to;
  __stcg(to, own);
  turn.give(blockIdx.y + 1);
}
