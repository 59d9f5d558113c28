// fault: "      group.wait();" => ""
// fault: "      group.release();" => ""
// fault: "      group.acquire();" => ""
// fault: "      group.commit();" => ""
#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

// An object that has a pipeline and a group, and one that has a reference in braces.
template <size_t Stages, unsigned Producers> class Group {
 public:
  using State = cuda::pipeline_shared_state<cuda::thread_scope_block, Stages>;
  __device__ Group(cg::thread_block block, State* state)
      : block_(block),
        pipe_(cuda::make_pipeline(block, state,
                                  block.thread_rank() < Producers ? cuda::pipeline_role::producer
                                                                  : cuda::pipeline_role::consumer)) {}
  __device__ bool produces() const { return block_.thread_rank() < Producers; }
  __device__ void acquire() { pipe_.producer_acquire(); }
  __device__ void commit() { pipe_.producer_commit(); }
  __device__ void wait() { pipe_.consumer_wait(); }
  __device__ void release() { pipe_.consumer_release(); }
  template <class T> __device__ void copy(T* to, const T* from) {
    cuda::memcpy_async(to, from, cuda::aligned_size_t<alignof(T)>(sizeof(T)), pipe_);
  }

 private:
  cg::thread_block block_;
  cuda::pipeline<cuda::thread_scope_block> pipe_;
};
struct Rows {
  float4 (&all)[4 * 128];
  __device__ explicit Rows(float4 (&of)[4 * 128]) : all{of} {}
  __device__ float4* at(unsigned stage) { return all + stage * 128; }
};

__global__ void __launch_bounds__(192) doubled(const float4* in, float4* out, int tiles) {
  __shared__ Group<4, 64>::State state;
  __shared__ float4 ring[4 * 128];
  Group<4, 64> group(cg::this_thread_block(), &state);
  Rows rows(ring);
  if (group.produces()) {
    for (int t = 0; t < tiles; ++t) {
      group.acquire();
      for (unsigned i = threadIdx.x; i < 128; i += 64) group.copy(rows.at(t % 4) + i, in + size_t(t) * 128 + i);
      group.commit();
    }
  } else {
    for (int t = 0; t < tiles; ++t) {
      group.wait();
      const float4 of = rows.at(t % 4)[191 - threadIdx.x];
      out[size_t(t) * 128 + threadIdx.x - 64] = make_float4(of.x * 2, of.y * 2, of.z * 2, of.w * 2);
      group.release();
    }
  }
}

void launch(const float4* in, float4* out) { doubled<<<1, 192>>>(in, out, 64); }
