// fault: "  cudaGridDependencySynchronize();  // the last round\n" => ""
// fault: "  cudaGridDependencySynchronize();  // the sums\n" => ""
// Kernels that a function of the host launches for others, with pointers in a structure: a round may begin while the last one
// runs, which writes what it reads.
#include <cuda_runtime.h>
#include <utility>
struct Grid {
  const float* weights;
  float* cells[2];
  float* sums;
  int turn;
};
__global__ void __launch_bounds__(128) smooth(Grid g) {
  __shared__ float row[130];
  const int at = threadIdx.x + 1;
  if (threadIdx.x < 2) row[threadIdx.x * 129] = 0.f;
  __syncthreads();
  cudaGridDependencySynchronize();  // the last round
  row[at] = g.cells[g.turn][blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  cudaTriggerProgrammaticLaunchCompletion();
  g.cells[g.turn ^ 1][blockIdx.x * 128 + threadIdx.x] = (row[at - 1] + row[at] + row[at + 1]) / 3.f;
}
__global__ void __launch_bounds__(128) total(Grid g, float* out) {
  cudaGridDependencySynchronize();  // the sums
  out[threadIdx.x] = g.sums[threadIdx.x] + g.cells[0][threadIdx.x];
}
// Nothing lets it begin early.
__global__ void __launch_bounds__(128) clear(Grid g) {
  g.sums[threadIdx.x] = g.weights[threadIdx.x];
  cudaTriggerProgrammaticLaunchCompletion();
}
template <class... P, class... A>
void launch_early(void (*kernel)(P...), int blocks, cudaStream_t stream, A&&... given) {
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(128);
  config.stream = stream;
  config.attrs = attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, std::forward<A>(given)...);
}
void rounds(Grid g, float* out, int blocks, cudaStream_t stream) {
  for (g.turn = 0; g.turn < 2; ++g.turn) launch_early(smooth, blocks, stream, g);
  clear<<<1, 128, 0, stream>>>(g);
  launch_early(total, 1, stream, g, out);
}
