// fault: "    __pipeline_wait_prior(0);  // the row\n" => ""
// fault: "    __syncthreads();  // all have read the row\n" => ""
// fault: "  __syncthreads();  // the matrix is whole\n" => ""
// What kernels use of the library of C++: values that may be missing, bytes, counts of bits, views of rows, limits and functors.
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/cstddef>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/memory>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/utility>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
__device__ cuda::std::optional<int> row_after(int row, int rows) {
  if (row + 1 < rows) return row + 1;
  return cuda::std::nullopt;
}
__global__ void __launch_bounds__(128) listed(float* out, const float* in, int rows) {
  __shared__ alignas(16) cuda::std::byte room[128 * sizeof(float)];
  cuda::std::span<float, 128> row(reinterpret_cast<float*>(room), 128);
  cuda::std::array<float, 2> sums{};
  float most = cuda::std::numeric_limits<float>::lowest();
  cuda::std::optional<int> next = 0;
  for (int left = cuda::std::numeric_limits<int>::max(); left > 0 && next.has_value(); --left) {
    __pipeline_memcpy_async(cuda::std::addressof(row[threadIdx.x]), in + *next * 128 + threadIdx.x, sizeof(float));
    __pipeline_commit();
    next = row_after(next.value(), rows);
    __pipeline_wait_prior(0);  // the row
    __syncthreads();
    const int other = threadIdx.x ^ cuda::std::bit_floor(100u);
    sums.at(0) = cuda::std::plus<float>{}(sums.front(), row[other]);
    most = cuda::maximum<float>{}(most, row.first<128>()[other]);
    __syncthreads();  // all have read the row
  }
  out[threadIdx.x] = cuda::std::as_const(sums[0]) + most;
}
__global__ void __launch_bounds__(128) turned(float* out, const float* in) {
  __shared__ alignas(16) float room[16 * 8];
  cuda::std::mdspan<float, cuda::std::extents<int, 16, 8>> matrix(room);
  constexpr int kShift = cuda::std::countr_zero(8u);
  __pipeline_memcpy_async(&matrix(threadIdx.x >> kShift, threadIdx.x & 7), in + threadIdx.x, sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();  // the matrix is whole
  out[threadIdx.x] = matrix(threadIdx.x & 15, threadIdx.x >> 4) * matrix.extent(0);
}
void launch(float* p) {
  listed<<<4, 128>>>(p, p + 65536, 5);
  turned<<<4, 128>>>(p, p + 65536);
}
