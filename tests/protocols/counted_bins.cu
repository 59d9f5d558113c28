// fault: "  __syncthreads();  // the bins are empty\n" => ""
// fault: "  __syncthreads();  // all is counted\n" => ""
// fault: "  __syncthreads();  // all have seen the first sums\n" => ""
// Data decides which bin is counted up: it may be any of them. Each warp has bins of its own as well, which no other warp touches.
#include <cuda_runtime.h>
#include <cuda_pipeline.h>
constexpr int THREADS = 256, BINS = 64, WARPS = THREADS / 32;
__global__ void __launch_bounds__(THREADS) count(const unsigned* keys, unsigned* out, int tiles) {
  __shared__ unsigned staged[2][THREADS];
  __shared__ unsigned bins[BINS];
  __shared__ unsigned own[WARPS][BINS];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x < BINS) bins[threadIdx.x] = 0;
  for (int bin = lane; bin < BINS; bin += 32) own[warp][bin] = 0;
  __syncwarp();
  __pipeline_memcpy_async(&staged[0][threadIdx.x], keys + blockIdx.x * THREADS + threadIdx.x, 4);
  __pipeline_commit();
  __syncthreads();  // the bins are empty
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      const size_t next = size_t(gridDim.x) * (tile + 1) + blockIdx.x;
      __pipeline_memcpy_async(&staged[(tile + 1) & 1][threadIdx.x], keys + next * THREADS + threadIdx.x, 4);
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    const unsigned key = staged[tile & 1][threadIdx.x];
    atomicAdd(&bins[key % BINS], 1u);
    atomicAdd(&own[warp][(key >> 8) % BINS], 1u);
  }
  __syncwarp();
  unsigned most = max(own[warp][lane], own[warp][lane + 32]);
  __syncthreads();  // all is counted
  if (threadIdx.x < BINS) out[blockIdx.x * BINS + threadIdx.x] = bins[threadIdx.x] + most;
  __syncthreads();  // all have seen the first sums
  const unsigned key = keys[threadIdx.x];
  atomicAdd(&bins[key % BINS], 1u);
  __syncthreads();
  if (threadIdx.x < BINS) out[threadIdx.x] += bins[threadIdx.x];
}
void counts(const unsigned* keys, unsigned* out, int tiles) { count<<<64, THREADS>>>(keys, out, tiles); }
