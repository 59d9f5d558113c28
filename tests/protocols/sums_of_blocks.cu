// fault: "      __threadfence(); // stored\n" => ""
// fault: "atomicAdd(count, 1u)" => "atomicAdd_block(count, 1u)"
// fault: "    all.meet(); // sums\n" => "    __syncthreads();\n"
// The thread that stores for its block meets the others, too: by another branch on its number.
class AllBlocks {
  unsigned* count;
  volatile unsigned* rounds;

 public:
  __device__ AllBlocks(unsigned* state) : count(state), rounds(state + 1) {}
  __device__ void meet() {
    __syncthreads();
    if (threadIdx.x == 0) {
      const unsigned round = *rounds;
      __threadfence(); // stored
      if (atomicAdd(count, 1u) == gridDim.x - 1) {
        *count = 0;
        __threadfence();
        *rounds = round + 1;
      } else {
        while (*rounds == round) {
        }
      }
      __threadfence();
    }
    __syncthreads();
  }
};
__global__ void __launch_bounds__(128) scaled(const float* in, float* out, float* sums, unsigned* state, int steps) {
  AllBlocks all(state);
  for (int step = 0; step < steps; step++) {
    const float own = in[(step * gridDim.x + blockIdx.x) * 128 + threadIdx.x];
    if (threadIdx.x == 0) sums[blockIdx.x] = own;
    all.meet(); // sums
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++) sum += sums[b];
    out[(step * gridDim.x + blockIdx.x) * 128 + threadIdx.x] = own / sum;
    all.meet();
  }
}
