// fault: "      __pipeline_wait_prior(1);\n" => ""
// fault: "      __syncthreads();  // the slot is free again\n" => ""
// fault: "      __syncthreads();  // the copies of all are there\n" => ""
// fault: "    __pipeline_commit();  // each round\n" => "    if (round < rounds_) __pipeline_commit();\n"
// A member begins with what the constructor begins another one with; one constructor calls another; a reference is one of two arrays.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
struct Space {
  float first[128], second[128];
};
class Mover {
  Space& space_;
  float* first_ = space_.first;
  const float* from_;
  int rounds_;
  int lane_ = threadIdx.x;

 public:
  __device__ Mover(Space& space, const float* from, int rounds) : space_(space), from_(from), rounds_(rounds) {}
  __device__ void fetch(int round) {
    auto& slot = round & 1 ? space_.second : space_.first;
    if (round < rounds_) __pipeline_memcpy_async(&slot[lane_], from_ + round * 128 + lane_, 4);
    __pipeline_commit();  // each round
  }
  __device__ float run() {
    float sum = first_ == nullptr ? 1.f : 0.f;
    fetch(0);
    for (int round = 0; round < rounds_; ++round) {
      fetch(round + 1);
      __pipeline_wait_prior(1);
      __syncthreads();  // the copies of all are there
      const float& v = round & 1 ? space_.second[lane_ ^ 64] : space_.first[lane_ ^ 64];
      sum += v;
      __syncthreads();  // the slot is free again
    }
    return sum;
  }
};
struct Rounds {
  int count, first;
  __device__ Rounds(int all, int from) : count(all - from), first(from) {}
  __device__ explicit Rounds(int all) : Rounds(all, 0) {}
};
__global__ void __launch_bounds__(128) sums(const float* in, float* out, int n) {
  __shared__ Space space;
  Rounds rounds(n);
  Mover mover(space, in + rounds.first, rounds.count);
  out[threadIdx.x] = mover.run();
}
void run(const float* in, float* out) { sums<<<1, 128>>>(in, out, 16); }
