// fault: "    partial[blockIdx.x] = s[0];\n    __threadfence();\n" => "    partial[blockIdx.x] = s[0];\n"
// fault: "    partial[blockIdx.x] = s[0];\n    __threadfence();\n" => "    partial[blockIdx.x] = s[0];\n    __threadfence_block();\n"
#include <cstdint>
// the last block adds up
__device__ unsigned arrived;
__global__ void __launch_bounds__(256) total(float *partial, float *result, const float *in) {
  __shared__ float s[256];
  __shared__ bool last;
  s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int o = 128; o; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = s[0];
    __threadfence();
    last = atomicAdd(&arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += ((volatile float *)partial)[i];
    *result = sum;
    arrived = 0;
  }
}
