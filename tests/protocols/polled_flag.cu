// fault: "  while (there.load(cuda::memory_order_acquire) == 0) {  // the number\n  }\n" => ""
// fault: "    __pipeline_wait_prior(0);  // before it says so\n" => ""
// One warp copies a number and sets a flag in shared memory; another looks at the flag until it is set.
#include <cuda/atomic>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
__global__ void __launch_bounds__(64) told(float* out, const float* in) {
  __shared__ float number;
  __shared__ cuda::atomic<int, cuda::thread_scope_block> there;
  if (threadIdx.x == 0) there.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x == 0) {
    __pipeline_memcpy_async(&number, in, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);  // before it says so
    there.store(1, cuda::memory_order_release);
  }
  if (threadIdx.x != 32) return;
  while (there.load(cuda::memory_order_acquire) == 0) {  // the number
  }
  out[0] = number;
}
void launch(float* p) {
  told<<<1, 64>>>(p, p + 64);
}
