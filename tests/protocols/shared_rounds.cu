// fault: "__pipeline_wait_prior(1); // all but the last" => "__pipeline_wait_prior(2);"
// fault: "    __syncthreads(); // of all threads\n" => ""
// fault: "    __syncthreads(); // it was read\n" => ""
// Several blocks share the rows of a matrix: how many each has is a quotient.
#include <cuda_pipeline.h>
__global__ void __launch_bounds__(128) shares(const float* in, float* out, int rows, int blocks) {
  __shared__ alignas(16) float row[2][128];
  const int t = threadIdx.x, own = rows / 8 / blocks, first = blockIdx.y * own;
  float sum = 0;
  auto load = [&](int i) {
    if (i < own && t < 32) __pipeline_memcpy_async(&row[i & 1][4 * t], in + (first + i) * 128 + 4 * t, 16);
    __pipeline_commit();
  };
  load(0);
  for (int i = 0; i < own; i++) {
    load(i + 1);
    __pipeline_wait_prior(1); // all but the last
    __syncthreads(); // of all threads
    sum += row[i & 1][127 - t];
    __syncthreads(); // it was read
  }
  __pipeline_wait_prior(0);
  atomicAdd(out + t, sum);
}
void launch(const float* in, float* out, int rows, int blocks) {
  shares<<<dim3(1, blocks), 128>>>(in, out, rows, blocks);
}
