// fault: "    cuda::std::get<1>(state) ^= 1;\n" => ""
// fault: "uint32_t(cuda::std::size(tile) * sizeof(float))" => "uint32_t(cuda::std::size(tile))"
#include <cstdint>
#include <cuda/std/iterator>
#include <cuda/std/tuple>

__device__ uint32_t address(const void* of) { return (uint32_t)__cvta_generic_to_shared(of); }

__global__ void __launch_bounds__(128) rows(const float* in, float* out, int rounds) {
  __shared__ alignas(128) float tile[256];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  // The round, and the parity of its phase.
  cuda::std::tuple<int, uint32_t> state{0, 0u};
  while (cuda::std::get<0>(state) < rounds) {
    const int round = cuda::std::get<0>(state);
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address(&full)),
                   "r"(uint32_t(cuda::std::size(tile) * sizeof(float)))
                   : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(
              address(tile)),
          "l"(in + round * 256), "r"(address(&full))
          : "memory");
    }
    uint32_t done = 0;
    while (!done)
      asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                   : "=r"(done)
                   : "r"(address(&full)), "r"(cuda::std::get<1>(state))
                   : "memory");
    out[round * 128 + threadIdx.x] = tile[255 - threadIdx.x];
    ++cuda::std::get<0>(state);
    cuda::std::get<1>(state) ^= 1;
    __syncthreads();
  }
}

void launch(const float* in, float* out, int rounds) { rows<<<1, 128>>>(in, out, rounds); }
