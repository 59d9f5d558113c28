// fault: "cuda::memory_order_acquire) != round * 2)  // empty" => "cuda::memory_order_relaxed) != round * 2)  // empty"
// fault: "      __syncthreads();  // slot is ours\n" => ""
// fault: "const unsigned want = round * 2 + 1;" => "const unsigned want = round * 2 + 2;"
#include <cuda/atomic>
#include <cuda_runtime.h>
// The even blocks send messages of 256 words to the odd ones, through rings of four slots in global memory.
using Seq = cuda::atomic<unsigned, cuda::thread_scope_device>;
constexpr int kSlots = 4;
struct Channel {
  Seq seq[kSlots];
  float words[kSlots][256];
};
__global__ void __launch_bounds__(256) channels(Channel* all, const float* in, float* out, int messages) {
  Channel& own = all[blockIdx.x / 2];
  float sum = 0.f;
  for (int m = 0; m < messages; ++m) {
    const unsigned slot = m % kSlots, round = m / kSlots;
    if (blockIdx.x % 2 == 0) {
      if (threadIdx.x == 0)
        while (own.seq[slot].load(cuda::memory_order_acquire) != round * 2)  // empty
          __nanosleep(64);
      __syncthreads();  // slot is ours
      own.words[slot][threadIdx.x] = in[((long long)blockIdx.x / 2 * messages + m) * 256 + threadIdx.x];
      __syncthreads();  // slot is written
      if (threadIdx.x == 0) own.seq[slot].store(round * 2 + 1, cuda::memory_order_release);  // filled
    } else {
      const unsigned want = round * 2 + 1;
      if (threadIdx.x == 0)
        while (own.seq[slot].load(cuda::memory_order_acquire) != want)  // full
          __nanosleep(64);
      __syncthreads();  // message is there
      sum += own.words[slot][(threadIdx.x + m) % 256];
      __syncthreads();  // message is read
      if (threadIdx.x == 0) own.seq[slot].store(round * 2 + 2, cuda::memory_order_release);  // emptied
    }
  }
  if (blockIdx.x % 2) out[blockIdx.x / 2 * 256 + threadIdx.x] = sum;
}
void go(Channel* c, const float* in, float* out, int pairs, int messages) {
  cudaMemset(c, 0, pairs * sizeof(Channel));
  channels<<<2 * pairs, 256>>>(c, in, out, messages);
}
