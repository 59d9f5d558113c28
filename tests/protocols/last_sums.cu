// fault: "    __threadfence();\n" => ""
// fault: "    is_last = atomicAdd(&arrived, 1) == gridDim.x - 1;\n  }\n  __syncthreads();\n" => "    is_last = atomicAdd(&arrived, 1) == gridDim.x - 1;\n  }\n"
// the last block sums what all have left
__device__ unsigned int arrived = 0;
template <int N> __global__ void __launch_bounds__(N) total(float *partial, const float *in, float *result, int n) {
  __shared__ float s[N];
  __shared__ bool is_last;
  float v = 0;
  for (int i = blockIdx.x * N + threadIdx.x; i < n; i += gridDim.x * N) v += in[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = N / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = s[0];
    __threadfence();
    is_last = atomicAdd(&arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last) {
    float t = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += N) t += partial[i];
    atomicAdd(result, t);
  }
}
template __global__ void total<256>(float *, const float *, float *, int);
