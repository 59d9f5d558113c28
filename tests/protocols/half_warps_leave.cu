// fault: "    __syncthreads(); // the row is there\n" => "    if (threadIdx.x < 32) __syncthreads();\n"
#include <cstdint>
__global__ void __launch_bounds__(128) k(const int* in, int* out, int n, int width) {
  __shared__ int row[64];
  // Half of the lanes of each warp have no column where the width is 64.
  const int column = (threadIdx.x / 32) * 16 + threadIdx.x % 32;
  if (threadIdx.x % 32 >= 16 && column + width >= 64) return;
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    const uint32_t to = (uint32_t)__cvta_generic_to_shared(&row[column % 64]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + i * 64 + column % 64) : "memory");
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads(); // the row is there
    sum += row[63 - column % 64];
    __syncthreads();
  }
  out[column] = sum;
}
