// fault: "  cudaGridDependencySynchronize();  // the rows are there\n" => ""
// fault: "  const float g = scale[threadIdx.x];\n" => "  const float g = scale[threadIdx.x] + rows[blockIdx.x];\n"
// fault: "  cudaGridDependencySynchronize();  // nobody counts any more\n  if (threadIdx.x == 0) count[blockIdx.x] = 0;" => "  if (threadIdx.x == 0) count[blockIdx.x] = 0;\n  cudaGridDependencySynchronize();"
// Kernels that may begin before those launched before them have ended: what both are given is used after the wait.
#include <cuda_runtime.h>
#include <cooperative_groups.h>
__global__ void __launch_bounds__(256) fill(const float* in, float* rows, int* count) {
  cudaGridDependencySynchronize();  // nobody counts any more
  if (threadIdx.x == 0) count[blockIdx.x] = 0;
  rows[blockIdx.x * 256 + threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void __launch_bounds__(256) use(const float* rows, const float* scale, float* out, int* count) {
  const float g = scale[threadIdx.x];
  cudaGridDependencySynchronize();  // the rows are there
  cudaTriggerProgrammaticLaunchCompletion();
  const float v = rows[blockIdx.x * 256 + threadIdx.x] * g;
  if (v > 0.f) atomicAdd(count + blockIdx.x, 1);
  out[blockIdx.x * 256 + threadIdx.x] = v;
}
void all(const float* in, const float* scale, float* rows, float* out, int* count, int n, cudaStream_t s) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = n;
  config.blockDim = 256;
  config.stream = s;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, fill, in, rows, count);
  cudaLaunchKernelEx(&config, use, (const float*)rows, scale, out, count);
  cudaLaunchKernelEx(&config, fill, in, rows, count);
}
