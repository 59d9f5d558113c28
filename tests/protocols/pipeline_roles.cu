// fault: "      pipe.producer_acquire();\n      cuda::memcpy_async(rows" => "      cuda::memcpy_async(rows"
// fault: "      pipe.consumer_wait();\n      sum += rows" => "      sum += rows"
// fault: "      sum += rows[r % 2][lane];\n      pipe.consumer_release();" => "      pipe.consumer_release();\n      sum += rows[r % 2][lane];"
// fault: "most = max(most, row[r % 2][lane]);\n      pipe.consumer_release();" => "most = max(most, row[r % 2][lane]);"
// fault: "&state, 32);" => "&state, 64);"
// fault: "      pipe.consumer_wait();\n      most = max" => "      most = max"
// A pipeline of a block in which some threads fill and the others use: those say it of themselves, or their number is given.
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
__global__ void __launch_bounds__(96) sums(const float* in, float* out, int count) {
  __shared__ alignas(16) float rows[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  const int lane = threadIdx.x % 32;
  const cuda::pipeline_role role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (role == cuda::pipeline_role::producer) {
    for (int r = 0; r < count; ++r) {
      pipe.producer_acquire();
      cuda::memcpy_async(rows[r % 2] + lane, in + r * 32 + lane, sizeof(float), pipe);
      pipe.producer_commit();
    }
  } else {
    float sum = 0.f;
    for (int r = 0; r < count; ++r) {
      pipe.consumer_wait();
      sum += rows[r % 2][lane];
      pipe.consumer_release();
    }
    out[blockIdx.x * 64 + threadIdx.x - 32] = sum;
  }
}
__global__ void __launch_bounds__(96) maxima(const int* in, int* out, int count) {
  __shared__ alignas(16) int row[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  const int lane = threadIdx.x % 32;
  auto pipe = cuda::make_pipeline(block, &state, 32);
  if (threadIdx.x < 32) {
    for (int r = 0; r < count; ++r) {
      pipe.producer_acquire();
      cuda::memcpy_async(row[r % 2] + lane, in + r * 32 + lane, sizeof(int), pipe);
      pipe.producer_commit();
    }
  } else {
    int most = 0;
    for (int r = 0; r < count; ++r) {
      pipe.consumer_wait();
      most = max(most, row[r % 2][lane]);
      pipe.consumer_release();
    }
    out[blockIdx.x * 64 + threadIdx.x - 32] = most;
  }
}
