// fault: "  __threadfence(); // part\n" => ""
// fault: "  __syncthreads(); // part of all\n" => ""
#include <cstdint>
__global__ void __launch_bounds__(128) sum_of_splits(const float* a, float* parts, unsigned* done, float* out) {
  __shared__ bool is_last;
  parts[(size_t)blockIdx.x * 128 + threadIdx.x] = a[(size_t)blockIdx.x * 128 + threadIdx.x] * 2.f;
  __threadfence(); // part
  __syncthreads(); // part of all
  if (threadIdx.x == 0) {
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  float sum = 0;
  for (int s = 0; s < (int)gridDim.x; s++) sum += __ldcg(parts + (size_t)s * 128 + threadIdx.x);
  out[threadIdx.x] = sum;
}
