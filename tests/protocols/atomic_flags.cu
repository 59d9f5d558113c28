// fault: "cuda::memory_order_release" => "cuda::memory_order_relaxed"
// fault: "cuda::std::memory_order_acquire" => "cuda::std::memory_order_relaxed"
// fault: "  __syncthreads(); // written by all\n" => ""
#include <cuda/atomic>
using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
__global__ void __launch_bounds__(64) handed(const float* in, float* half, float* out, unsigned* flags, unsigned round) {
  half[blockIdx.x * 64 + threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x] + 1;
  __syncthreads(); // written by all
  const int from = (blockIdx.x + 1) % gridDim.x;
  if (threadIdx.x == 0) {
    Flag own(flags[blockIdx.x]);
    own.store(round, cuda::memory_order_release);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> other(flags[from]);
    while (other.load(cuda::std::memory_order_acquire) != round) {
    }
  }
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = half[from * 64 + threadIdx.x];
}
