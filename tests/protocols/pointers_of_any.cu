// fault: "  __pipeline_wait_prior(0);" => ""
// fault: "  __syncthreads();" => ""
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

struct Rows {
  float* data;
  unsigned width;
};

__device__ auto* after(float* of, unsigned by) { return of + by; }

// Lambdas take pointers to whatever it is, and functions give them.
__global__ void __launch_bounds__(64) turned(Rows in, Rows out) {
  __shared__ __align__(16) float tile[256];
  const auto row = [width = in.width](auto* of, unsigned number) { return of + (size_t)number * width; };
  const auto* from = row(in.data, blockIdx.x);
  auto* mine = after(tile, threadIdx.x * 4);
  __pipeline_memcpy_async(mine, from + threadIdx.x * 4, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  row(out.data, blockIdx.x)[threadIdx.x] = tile[255 - threadIdx.x];
}

void launch(Rows in, Rows out) { turned<<<8, 64>>>(in, out); }
