// fault: "flags[blockIdx.x + 1].store(round + 1, cuda::memory_order_release);" => "flags[blockIdx.x].store(round + 1, cuda::memory_order_release);"
// fault: "while (flags[blockIdx.x].load(cuda::memory_order_acquire) < round + 1) {\n      }" => "while (flags[blockIdx.x].load(cuda::memory_order_acquire) < round) {\n      }"
// fault: "    __syncthreads(); // the sums are there\n" => ""
// Each block adds to what the one before has left, round after round.
#include <cuda/atomic>
using Flag = cuda::atomic<int, cuda::thread_scope_device>;
__global__ void __launch_bounds__(64) chain(const float* in, float* sums, Flag* flags, int rounds) {
  for (int round = 0; round < rounds; round++) {
    float sum = in[(round * gridDim.x + blockIdx.x) * 64 + threadIdx.x];
    if (threadIdx.x == 0) {
      if (blockIdx.x > 0)
        while (flags[blockIdx.x].load(cuda::memory_order_acquire) < round + 1) {
      }
    }
    __syncthreads(); // the sums are there
    if (blockIdx.x > 0) sum += sums[((blockIdx.x - 1) * rounds + round) * 64 + threadIdx.x];
    sums[(blockIdx.x * rounds + round) * 64 + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) flags[blockIdx.x + 1].store(round + 1, cuda::memory_order_release);
  }
}
