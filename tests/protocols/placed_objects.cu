// fault: "    bars[tile & 1].wait(cuda::std::move(prev));\n" => ""
// fault: "Bar(128);\n    ptx" => "Bar(1);\n    ptx"
// fault: "    __syncthreads();\n    prev" => "    prev"
// Barriers that are made in memory of the block, in a union, and tokens that a choice gives.
#include <cuda/barrier>
#include <cuda/std/array>
#include <cuda/ptx>
#include <new>
#include <cstdint>
namespace ptx = cuda::ptx;
using Bar = cuda::barrier<cuda::thread_scope_block>;
union Overlay { float stage[2][2048]; double sums[128]; __device__ Overlay() {} };
__global__ void __launch_bounds__(128) k(const float* __restrict__ in, double* out, int n) {
  __shared__ Overlay data;
  __shared__ alignas(Bar) unsigned char storage[2 * sizeof(Bar)];
  Bar* bars = reinterpret_cast<Bar*>(storage);
  if (threadIdx.x == 0) {
    new (&bars[0]) Bar(128);
    ::new (static_cast<void*>(bars + 1)) Bar(128);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  auto issue = [&, in](int tile) {
    Bar& b = bars[tile & 1];
    Bar::arrival_token t;
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, data.stage[tile & 1], in + tile * 2048, 8192, cuda::device::barrier_native_handle(b));
      t = cuda::device::barrier_arrive_tx(b, 1, 8192);
    } else {
      t = b.arrive();
    }
    return t;
  };
  auto prev = issue(0);
  double sum = 0;
  int tile = 0;
  do {
    const bool more = tile + 1 < n;
    auto next = more ? issue(tile + 1) : Bar::arrival_token{};
    bars[tile & 1].wait(cuda::std::move(prev));
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) sum += data.stage[tile & 1][i];
    __syncthreads();
    prev = cuda::std::move(next);
  } while (++tile < n);
  data.sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] = data.sums[threadIdx.x] + data.sums[threadIdx.x + 64];
}
