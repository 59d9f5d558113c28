// fault: "  WAIT_FOR_GRIDS();  // the sums are there\n" => ""
// fault: "  WAIT_FOR_GRIDS();  // nobody reads the sums any more\n" => ""
// Kernels are launched by a template that takes any of them, with arguments whose types only headers know. What lets the next
// grid begin is a macro.
#include <cuda_runtime.h>
#define WAIT_FOR_GRIDS() asm volatile("griddepcontrol.wait;" ::: "memory")
#define LET_GRIDS_BEGIN() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")

__global__ void __launch_bounds__(128) sums(const float* __restrict__ in, float* sum, int n) {
  float own = 0.f;
  for (int i = threadIdx.x; i < n; i += 128) own += in[blockIdx.x * n + i];
  WAIT_FOR_GRIDS();  // nobody reads the sums any more
  sum[blockIdx.x * 128 + threadIdx.x] = own;
  LET_GRIDS_BEGIN();
}

__global__ void __launch_bounds__(128) scaled(const float* sum, float* out) {
  LET_GRIDS_BEGIN();
  WAIT_FOR_GRIDS();  // the sums are there
  out[blockIdx.x * 128 + threadIdx.x] = sum[blockIdx.x * 128 + threadIdx.x] * 0.5f;
}

template <class... Parameters, class... Arguments>
static void start(void (*kernel)(Parameters...), int blocks, cudaStream_t stream, Arguments... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(128);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

void all(const float* in, float* sum, float* out, int n, int turns) {
  for (int turn = 0; turn < turns; ++turn) {
    start(sums, 64, (cudaStream_t)0, in, sum, n);
    start(scaled, 64, (cudaStream_t)0, sum, out);
  }
}
