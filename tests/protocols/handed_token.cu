// fault: "cuda::device::barrier_arrive_tx(bar, 1, 512)" => "cuda::device::barrier_arrive_tx(bar, 1, 256)"
// fault: "  bar.wait(static_cast<Barrier::arrival_token&&>(token));\n" => ""
// fault: "init(&bar, 128);" => "init(&bar, 129);"
// A token that is handed on by a cast.
#include <cuda/barrier>
using Barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void __launch_bounds__(128) handed(const float* in, float* out) {
  __shared__ alignas(128) float tile[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, 128);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(tile, in + blockIdx.x * 128, cuda::aligned_size_t<16>(512), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, 512);
  } else {
    token = bar.arrive();
  }
  bar.wait(static_cast<Barrier::arrival_token&&>(token));
  out[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];
}
