// fault: "  __pipeline_wait_prior(0);" => ""
// fault: "  __syncthreads();" => ""
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

// Lists name the members, objects are made of types in name spaces.
namespace copies {
struct Copy {
  float* to;
  const float* from;
  int left = 0;
};
struct Offset {
  int by;
  __device__ explicit Offset(int number) : by(number * 4) {}
};
}  // namespace copies
__device__ void begin(copies::Copy copy, copies::Offset at) {
  __pipeline_memcpy_async(copy.to + at.by, copy.from + at.by + copy.left, 16);
}

__global__ void __launch_bounds__(64) turned(const float* in, float* out) {
  __shared__ __align__(16) float tile[256];
  const copies::Copy whole{.to = tile, .from = in};
  if (threadIdx.x < 32) {
    begin(whole, copies::Offset(threadIdx.x));
  } else {
    begin({.to = whole.to, .from = whole.from, .left = 0}, copies::Offset{int(threadIdx.x)});
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[255 - threadIdx.x];
}

void launch(const float* in, float* out) { turned<<<1, 64>>>(in, out); }
