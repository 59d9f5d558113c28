// fault: "    pipe.consumer_wait();\n" => ""
// fault: "    pipe.consumer_release();\n" => ""
// fault: "    pipe.producer_acquire();\n" => ""
// fault: "      pipe.producer_commit();\n" => ""

#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
__global__ void __launch_bounds__(128) blockpipe(const float* in, float* out, int n) {
  __shared__ alignas(16) float buf[2][512];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  float s = 0;
  for (int c = 0, f = 0; c < n; ++c) {
    for (; f < n && f < c + 2; ++f) {
    pipe.producer_acquire();
      cuda::memcpy_async(block, buf[f & 1], in + f * 512, cuda::aligned_size_t<16>(2048), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    s += buf[c & 1][511 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = s;
}
