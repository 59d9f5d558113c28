// fault: "      arrive(FULL + ((t - 1) & 1));" => "      arrive(FULL + (t & 1));"
// fault: "    arrive(FULL + ((rounds - 1) & 1));" => ""
// fault: "    __pipeline_wait_prior(0);" => ""
// fault: "      if (t + 2 < rounds) arrive(EMPTY + (t & 1));" => ""
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

enum : int { ROW = 32, ROWS = 16, FULL = 1, EMPTY = 3 };
__device__ void sync(int id) { asm volatile("barrier.sync %0, 128;" ::"r"(id) : "memory"); }
__device__ void arrive(int id) { asm volatile("barrier.arrive %0, 128;" ::"r"(id) : "memory"); }

// The rows are shared out among so many blocks, each with as many rounds as it has pieces.
__global__ void __launch_bounds__(128) sums_of_parts(const float* in, float* out, int rows, int parts) {
  __shared__ __align__(16) float piece[2][ROWS][ROW];
  const int part = rows / parts, rounds = part / ROWS;
  const float* from = in + (size_t)blockIdx.x * part * ROW;
  if (threadIdx.x < 64) {
    for (int t = 0; t < rounds; ++t) {
      if (t >= 2) sync(EMPTY + (t & 1));
      for (int e = threadIdx.x * 4; e < ROWS * ROW; e += 256)
        __pipeline_memcpy_async(&piece[t & 1][0][0] + e, from + (size_t)t * ROWS * ROW + e, 16);
      __pipeline_commit();
      if (t == 0) continue;
      __pipeline_wait_prior(1);
      __threadfence_block();
      arrive(FULL + ((t - 1) & 1));
    }
    __pipeline_wait_prior(0);
    __threadfence_block();
    arrive(FULL + ((rounds - 1) & 1));
  } else {
    float sum = 0.f;
    for (int t = 0; t < rounds; ++t) {
      sync(FULL + (t & 1));
      for (int r = 0; r < ROWS; ++r) sum += piece[t & 1][r][threadIdx.x % ROW];
      if (t + 2 < rounds) arrive(EMPTY + (t & 1));
    }
    out[blockIdx.x * 64 + threadIdx.x - 64] = sum;
  }
}

void launch(const float* in, float* out) { sums_of_parts<<<8, 128>>>(in, out, 4096, 8); }
