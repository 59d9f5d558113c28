// fault: "    __pipeline_wait_prior(1);\n    block.sync();" => "    block.sync();"
// fault: "    block.sync();\n    switch" => "    switch"
// fault: "__pipeline_wait_prior(1);" => "__pipeline_wait_prior(2);"
// Tiles that are drawn in the condition of a loop, structures without names, and vectors that are taken apart.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
struct Plus { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };
template <class Op, class... Ts> __device__ auto fold(Op op, Ts... ts) { return (... + ts); }
struct Work { int tile; bool valid; __device__ explicit operator bool() const { return valid; } };
class Scheduler {
  int next_; const int step_, total_;
 public:
  __device__ Scheduler(int total) : next_(blockIdx.x), step_(gridDim.x), total_(total) {}
  __device__ Work get() { const Work w{next_, next_ < total_}; next_ += step_; return w; }
};
template <typename Fn> __device__ void for_each_tile(int total, Fn&& fn) { Scheduler s(total); while (Work w = s.get()) fn(w.tile); }
template <class Op> __device__ float warp_reduce(float v, Op op) { for (int m = 16; m; m /= 2) v = op(v, __shfl_xor_sync(~0u, v, m)); return v; }
__global__ void __launch_bounds__(256) k(const float4* __restrict__ in, float* out, int total) {
  __shared__ alignas(16) float4 buf[2][256];
  __shared__ float warp_part[8];
  __shared__ struct { float sum; int count; } result;
  auto block = cg::this_thread_block();
  int parity = 0;
  auto stage = [&](int t, int b) { __pipeline_memcpy_async(&buf[b][threadIdx.x], in + t * 256 + threadIdx.x, sizeof(float4)); __pipeline_commit(); };
  if ((int)blockIdx.x < total) stage(blockIdx.x, 0);
  for_each_tile(total, [&](int tile) {
    const int nt = tile + gridDim.x;
    if (nt < total) stage(nt, parity ^ 1); else __pipeline_commit();
    __pipeline_wait_prior(1);
    block.sync();
    const auto [a, b, c, d] = buf[parity][255 - threadIdx.x];
    auto part = [&]() -> float { float s = fold(Plus{}, a, b, c, d); return warp_reduce(s, Plus{}); }();
    if (threadIdx.x % 32 == 0) warp_part[threadIdx.x / 32] = part;
    block.sync();
    switch (threadIdx.x) {
      case 0: { float s = 0; int i = 0; do { s += warp_part[i]; } while (++i < 8); result.sum = s; result.count = tile; }
      [[fallthrough]];
      case 1: out[tile * 2 + threadIdx.x] = threadIdx.x ? 0.f : result.sum; break;
      default:;
    }
    parity ^= 1;
    block.sync();
  });
}
