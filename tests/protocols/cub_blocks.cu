// fault: "  __pipeline_wait_prior(0);  // the row\n" => ""
// fault: "  __syncthreads();  // the mean is there, and the room is free\n" => ""
// fault: "  __pipeline_wait_prior(0);  // the numbers\n" => ""
// Sums and places of a block by CUB, whose room in shared memory is used twice.
#include <climits>
#include <cub/cub.cuh>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
__global__ void __launch_bounds__(128) normed(float* out, const float* in) {
  using BlockReduce = cub::BlockReduce<float, 128>;
  __shared__ typename BlockReduce::TempStorage room;
  __shared__ alignas(16) float row[128];
  __shared__ float mean, spread;
  __pipeline_memcpy_async(&row[threadIdx.x], in + blockIdx.x * 128 + threadIdx.x, sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);  // the row
  const float own = row[threadIdx.x];
  const float sum = BlockReduce(room).Sum(own);
  if (threadIdx.x == 0) mean = sum / 128.f;
  __syncthreads();  // the mean is there, and the room is free
  const float off = own - mean;
  const float squares = BlockReduce(room).Reduce(off * off, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0) spread = rsqrtf(squares);
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = off * spread;
}
__global__ void __launch_bounds__(128) placed(int* out, const int* in) {
  typedef cub::BlockScan<int, 128> Scan;
  __shared__ typename Scan::TempStorage room;
  __shared__ alignas(16) int row[128];
  __pipeline_memcpy_async(&row[threadIdx.x], in + threadIdx.x, sizeof(int));
  __pipeline_commit();
  int place = INT_MAX;
  __pipeline_wait_prior(0);  // the numbers
  const int own = row[threadIdx.x];
  Scan(room).ExclusiveSum(own, place);
  row[127 - threadIdx.x] = place;
  __syncthreads();
  out[threadIdx.x] = row[threadIdx.x ^ 64];
}
void launch(float* p, int* q) {
  normed<<<4, 128>>>(p, p + 65536);
  placed<<<1, 128>>>(q, q + 65536);
}
