// fault: "  if (threadIdx.x == 0) __mbarrier_init(&bar, 128);\n  __syncthreads();\n" => "  if (threadIdx.x == 0) __mbarrier_init(&bar, 128);\n"
// fault: "__mbarrier_init(&bar, 128);" => "__mbarrier_init(&bar, 129);"
// fault: "    __pipeline_arrive_on(&bar);\n" => ""
// fault: "    while (!__mbarrier_test_wait(&bar, token)) {\n    }\n" => ""
// fault: "    __syncthreads();\n  }" => "  }"
// The primitives of `cuda_pipeline.h`: an object is told when the copies of the threads are complete.
#include <cuda_pipeline.h>
__global__ void __launch_bounds__(128) reversed(const float4* in, float4* out, int n) {
  __shared__ alignas(16) float4 row[128];
  __shared__ __mbarrier_t bar;
  if (threadIdx.x == 0) __mbarrier_init(&bar, 128);
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    __pipeline_memcpy_async(&row[threadIdx.x], in + i * 128 + threadIdx.x, 16);
    __pipeline_arrive_on(&bar);
    __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {
    }
    out[i * 128 + threadIdx.x] = row[127 - threadIdx.x];
    __syncthreads();
  }
}
