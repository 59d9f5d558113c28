// fault: "  wait_for_grids();  // nobody reads the rows any more\n" => ""
// fault: "  wait_for_grids();  // the rows are there\n" => ""
// fault: "  wait_for_grids();  // the sums are there\n" => ""
// fault: "  asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\");\n" => ""
// fault: "  __syncthreads();  // of all threads\n" => ""
// Kernels of a loop that a function launches to which they are passed: each may begin before those before it have ended.
#include <cuda_runtime.h>
__device__ __forceinline__ void wait_for_grids() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ __forceinline__ void let_grids_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
static constexpr int kThreads = 256;
__global__ void scale_rows(const float* __restrict__ by, float* rows) {
  let_grids_begin();
  wait_for_grids();  // nobody reads the rows any more
  rows[blockIdx.x * kThreads + threadIdx.x] *= by[threadIdx.x];
}
__global__ void sum_rows(const float* rows, const float* weights, float* sums) {
  __shared__ alignas(16) float w[4 * kThreads];
  let_grids_begin();
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(w + 4 * threadIdx.x));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(weights + 4 * threadIdx.x) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  wait_for_grids();  // the rows are there
  const float v = rows[blockIdx.x * kThreads + threadIdx.x];
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();  // of all threads
  sums[blockIdx.x * kThreads + threadIdx.x] = v * (w[threadIdx.x] + w[3 * kThreads + threadIdx.x]);
}
__global__ void round_sums(const float* sums, int* out) {
  let_grids_begin();
  wait_for_grids();  // the sums are there
  out[blockIdx.x * kThreads + threadIdx.x] = __float2int_rn(sums[blockIdx.x * kThreads + threadIdx.x]);
}
template <class... Takes, class... Gets>
static void start(void (*kernel)(Takes...), dim3 grid, int threads, cudaStream_t stream, Gets... gets) {
  cudaLaunchAttribute early[1];
  early[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early[0].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = threads;
  config.stream = stream;
  config.attrs = early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, Takes(gets)...);
}
void rounds(const float* by, float* rows, const float* weights, float* sums, int* out, cudaStream_t stream) {
  for (int round = 0; round < 8; ++round) {
    start(scale_rows, 1024, kThreads, stream, by, rows);
    start(sum_rows, 1024, kThreads, stream, rows, weights, sums);
    start(&round_sums, 1024, kThreads, stream, sums, out);
  }
}
