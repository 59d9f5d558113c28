// fault: "\n    asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");  // scores" => "\n    "
#include <cuda_runtime.h>

__global__ void scores_of_keys(const float* q, const float* k, float* scores, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) scores[i] = q[blockIdx.x] * k[i];
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// Warps from the fourth on have read what the first kernel writes; the others load what no kernel writes.
__global__ void __launch_bounds__(256) weighted(const float* __restrict__ values, float* scores, float* out, int n) {
  float sum = 0.f;
  if (threadIdx.x < 128) {
    for (int i = threadIdx.x; i < n; i += 128) sum += values[i];
    out[blockIdx.x * 256 + threadIdx.x] = sum;
  } else {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // scores
    const int me = threadIdx.x - 128;
    float all = 0.f;


    for (int i = me; i < n; i += 128) all += scores[i];
    out[blockIdx.x * 256 + 128 + me] = all;
  }
}

void attend(const float* q, const float* k, const float* v, float* scores, float* out, int n, cudaStream_t s) {
  scores_of_keys<<<(n + 255) / 256, 256, 0, s>>>(q, k, scores, n);
  cudaLaunchAttribute early[1];
  early[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early[0].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(64);
  config.blockDim = dim3(256);
  config.stream = s;
  config.attrs = early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, weighted, v, scores, out, n);
}
