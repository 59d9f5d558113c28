// fault: "      pipe.producer_acquire();\n" => ""
// fault: "    pipe.consumer_wait();\n" => ""
// fault: "    pipe.consumer_release();\n" => ""
// fault: "&fill[t % Shape::Depth]" => "&fill[(t + 1) % Shape::Depth]"
// fault: "(size_t)Shape::Loaders" => "(size_t)(2 * Shape::Loaders)"
// The stages and the roles of a pipeline are constants of a type that the kernel's template gets.
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
template <int ROW, int DEPTH>
struct RowsOf {
  static constexpr int Row = ROW, Depth = DEPTH, Loaders = 32, Adders = 64;
};
template <class Shape>
__global__ void __launch_bounds__(Shape::Loaders + Shape::Adders) add_rows(const int* in, int* out, int rows) {
  __shared__ alignas(16) int fill[Shape::Depth][Shape::Row];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Shape::Depth> state;
  auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state, (size_t)Shape::Loaders);
  if (threadIdx.x < Shape::Loaders) {
    for (int t = 0; t < rows; ++t) {
      pipe.producer_acquire();
      cuda::memcpy_async(&fill[t % Shape::Depth][threadIdx.x * 4], in + t * Shape::Row + threadIdx.x * 4,
                         cuda::aligned_size_t<16>(16), pipe);
      pipe.producer_commit();
    }
    return;
  }
  int sum = 0;
  const int at = threadIdx.x - Shape::Loaders;
  for (int t = 0; t < rows; ++t) {
    pipe.consumer_wait();
    sum += fill[t % Shape::Depth][at] + fill[t % Shape::Depth][at + Shape::Adders];
    pipe.consumer_release();
  }
  out[blockIdx.x * Shape::Adders + at] = sum;
}
void launch(const int* in, int* out, int rows) {
  using Small = RowsOf<128, 2>;
  add_rows<Small><<<64, 96>>>(in, out, rows);
}
