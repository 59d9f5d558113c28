// fault: "__pipeline_wait_prior(1); // the next row" => "__pipeline_wait_prior(2);"
// fault: "    __syncthreads(); // the row is there\n" => ""
// fault: "    __syncthreads(); // the row is read\n" => ""
// Rows from one parameter to another, two of them on their way.
#include <cuda_pipeline.h>
__global__ void __launch_bounds__(128) between(const float* in, float* out, int pitch, int first, int end) {
  __shared__ alignas(16) float rows[2][128];
  const int t = threadIdx.x;
  auto load = [&](int row) {
    if (t < 32) __pipeline_memcpy_async(&rows[row & 1][4 * t], in + (size_t)row * pitch + 4 * t, 16);
    __pipeline_commit();
  };
  load(first);
  for (int row = first; row < end; row++) {
    load(row + 1);
    __pipeline_wait_prior(1); // the next row
    __syncthreads(); // the row is there
    float sine, cosine;
    sincospif(rows[row & 1][127 - t], &sine, &cosine);
    out[(size_t)row * pitch + t] = sine + cospif(cosine);
    __syncthreads(); // the row is read
  }
  __pipeline_wait_prior(0);
}
