// fault: "cp_async_wait<stages - 2>();" => "cp_async_wait<stages - 1>();"
// fault: "    __syncthreads();\n  };" => "  };"
// fault: "    cp_async_fence();\n  };" => "  };"
// fault: "    wait_for_stage();\n    const uint4" => "    const uint4"
// fault: "fetch_to_shared((t + stages - 1) % stages, t + stages - 1" => "fetch_to_shared((t + stages) % stages, t + stages - 1"
#include <cstdint>
__device__ inline void cp_async4_pred(void* smem_ptr, const void* glob_ptr, bool pred = true) {
  const int BYTES = 16;
  uint32_t smem = static_cast<uint32_t>(__cvta_generic_to_shared(smem_ptr));
  asm volatile(
      "{\n"
      "   .reg .pred p;\n"
      "   setp.ne.b32 p, %0, 0;\n"
      "   @p cp.async.cg.shared.global [%1], [%2], %3;\n"
      "}\n" ::"r"((int)pred), "r"(smem), "l"(glob_ptr), "n"(BYTES));
}
__device__ inline void cp_async_fence() { asm volatile("cp.async.commit_group;\n" ::); }
template <int n> __device__ inline void cp_async_wait() { asm volatile("cp.async.wait_group %0;\n" ::"n"(n)); }
template <int threads, int stages>
__global__ void __launch_bounds__(threads) marlin_like(const int4* __restrict__ A, int4* __restrict__ C, int iters) {
  extern __shared__ int4 sh[];
  auto fetch_to_shared = [&](int pipe, int i, bool pred = true) {
    if (pred) {
      int4* sh_a_stage = sh + 2 * threads * pipe;
#pragma unroll
      for (int j = 0; j < 2; j++) cp_async4_pred(&sh_a_stage[threads * j + threadIdx.x], &A[(i * 2 + j) * threads + threadIdx.x], true);
    }
    cp_async_fence();
  };
  auto wait_for_stage = [&]() {
    cp_async_wait<stages - 2>();
    __syncthreads();
  };
#pragma unroll
  for (int i = 0; i < stages - 1; i++) fetch_to_shared(i, i, i < iters);
  int4 acc = {};
  for (int t = 0; t < iters; t++) {
    wait_for_stage();
    const uint4* st = reinterpret_cast<const uint4*>(sh + 2 * threads * (t % stages));
    uint4 v = st[(threadIdx.x + 32) % (2 * threads)];
    acc.x += v.x ^ v.w;
    fetch_to_shared((t + stages - 1) % stages, t + stages - 1, t + stages - 1 < iters);
  }
  C[blockIdx.x * threads + threadIdx.x] = acc;
}
void go(const int4* a, int4* c, int n) { marlin_like<256, 4><<<1, 256, 4 * 2 * 256 * 16>>>(a, c, n); }
