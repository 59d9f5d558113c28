// fault: "      pipe.producer_acquire();\n" => ""
// fault: "      pipe.producer_commit();\n" => ""
// fault: "      pipe.consumer_wait();\n" => ""
// fault: "      pipe.consumer_release();\n" => ""
// A warp fills the stages of a pipeline together, with a number of bytes that is known when the kernel runs.
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

__global__ void __launch_bounds__(128) waves(const float* in, float* out, int n, int width) {
  __shared__ alignas(16) float stages[3][96];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  const auto role = warp.meta_group_rank() == 0 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (warp.meta_group_rank() == 0) {
    for (int i = 0; i < n; ++i) {
      pipe.producer_acquire();
      cuda::memcpy_async(warp, stages[i % 3], in + i * 96, cuda::aligned_size_t<16>(width * sizeof(float)), pipe);
      pipe.producer_commit();
    }
  } else {
    float sum = 0.f, sine, cosine;
    for (int i = 0; i < n; ++i) {
      pipe.consumer_wait();
      __sincosf(stages[i % 3][threadIdx.x - 32], &sine, &cosine);
      sum += sine * cosine;
      pipe.consumer_release();
    }
    out[threadIdx.x - 32] = sum;
  }
}
