// fault: "      pipe.consumer_wait();\n" => ""
// fault: "      pipe.consumer_release();\n" => ""
// fault: "      pipe.producer_acquire();\n" => ""
// fault: "      pipe.producer_commit();\n" => ""

// An object that keeps a reference to a pipeline, and the group of its block.
#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

template <class T, int N, int STAGES>
struct Worker {
  using Pipe = cuda::pipeline<cuda::thread_scope_block>;
  T (*rows)[N];
  Pipe& pipe;
  cg::thread_block block;

  __device__ void fill(const T* from, int count) {
    for (int i = 0; i < count; ++i, from += N) {
      pipe.producer_acquire();
      cuda::memcpy_async(cg::tiled_partition<32>(block), rows[i % STAGES], from, cuda::aligned_size_t<16>(N * sizeof(T)), pipe);
      pipe.producer_commit();
    }
  }
  __device__ void drain(T* to, int count) {
    for (int i = 0; i < count; ++i) {
      pipe.consumer_wait();
      for (int e = block.thread_rank() - 32; e < N; e += 96) to[i * N + e] = rows[i % STAGES][e] * 3;
      pipe.consumer_release();
    }
  }
};

template <int N, int STAGES>
__global__ void __launch_bounds__(128) tripled(const int* in, int* out, int count) {
  __shared__ alignas(16) int rows[STAGES][N];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
  auto block = cg::this_thread_block();
  const auto role = block.thread_rank() < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  Worker<int, N, STAGES> worker{rows, pipe, block};
  if (role == cuda::pipeline_role::producer)
    worker.fill(in, count);
  else
    worker.drain(out, count);
}

void launch(const int* in, int* out, int count) { tripled<512, 2><<<1, 128>>>(in, out, count); }
