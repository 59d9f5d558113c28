// fault: "    pipe.consumer_wait();\n" => ""
// fault: "    pipe.consumer_wait();\n    __syncthreads();\n" => "    pipe.consumer_wait();\n"
// fault: "    pipe.consumer_release();\n    __syncthreads();\n" => "    pipe.consumer_release();\n"

#include <cuda/pipeline>
#include <cuda/barrier>
__global__ void __launch_bounds__(128) threadpipe(const float4* in, float* out, int n) {
  __shared__ alignas(16) float4 buf[2][128];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&buf[0][threadIdx.x], in + threadIdx.x, cuda::aligned_size_t<16>(16), pipe);
  pipe.producer_commit();
  float s = 0;
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) {
    pipe.producer_acquire();
    cuda::memcpy_async(&buf[(k + 1) & 1][threadIdx.x], in + (k + 1) * 128 + threadIdx.x, cuda::aligned_size_t<16>(16), pipe);
    pipe.producer_commit();
    }
    pipe.consumer_wait();
    __syncthreads();
    s += buf[k & 1][127 - threadIdx.x].x;
    pipe.consumer_release();
    __syncthreads();
  }
  out[threadIdx.x] = s;
}
