// fault: "return tile % kSlots;" => "return tile % (kSlots - 1);"
// fault: "constexpr int kSlots = kAhead + 1;" => "constexpr int kSlots = kAhead;"
// fault: "    __pipeline_wait_prior(kAhead - 1);\n" => ""
// fault: "    __syncthreads();  // all have copied\n" => ""
#include <cuda_pipeline.h>

constexpr int kAhead = 3;

constexpr int kSlots = kAhead + 1;


__device__ __forceinline__ int slot_of(int tile) {
  return tile % kSlots;
}

// Rows come in some rounds ahead; each thread reads what its neighbour has copied.


__global__ void __launch_bounds__(128) smooth(const float4* in, float4* out, int tiles) {
  __shared__ float4 rows[kSlots][128];
  const int me = threadIdx.x;
  for (int t = 0; t < kAhead; ++t) {
    if (t < tiles) __pipeline_memcpy_async(&rows[slot_of(t)][me], &in[t * 128 + me], 16);
    __pipeline_commit();
  }
  for (int t = 0; t < tiles; ++t) {
    __pipeline_wait_prior(kAhead - 1);
    __syncthreads();  // all have copied
    const float4 v = rows[slot_of(t)][127 - me];
    out[t * 128 + me] = v;
    if (t + kAhead < tiles) __pipeline_memcpy_async(&rows[slot_of(t + kAhead)][me], &in[(t + kAhead) * 128 + me], 16);
    __pipeline_commit();
  }
}
