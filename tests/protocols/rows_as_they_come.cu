// fault: "      while (*(volatile int*)(done + at) == 0) {\n      }\n      __threadfence();\n" => ""
// fault: "    __threadfence(); // row\n" => ""
// fault: "*(volatile int*)(done + row) = 1;" => "*(volatile int*)(done + row + 1) = 1;"
// The rows of a sparse matrix, each by a warp as soon as those that it needs are there.
__global__ void __launch_bounds__(128) solve(const int* first, const int* column, const float* value, float* x, int* done, int* next, int rows) {
  const int lane = threadIdx.x & 31;
  if ((blockIdx.x * 128 + threadIdx.x) / 32 >= rows) return;
  int row = 0;
  if (lane == 0) row = atomicAdd(next, 1);
  row = __shfl_sync(~0u, row, 0);
  if (lane == 0) {
    float sum = 0;
    for (int i = first[row]; i < first[row + 1] - 1; i++) {
      const int at = column[i];
      while (*(volatile int*)(done + at) == 0) {
      }
      __threadfence();
      sum += value[i] * x[at];
    }
    x[row] = sum;
    __threadfence(); // row
    *(volatile int*)(done + row) = 1;
  }
}
