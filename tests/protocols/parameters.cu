// fault: "      asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n" => ""
// fault: "      if (threadIdx.x == 0) store_wait_read<1>();\n" => ""
// fault: "store_wait_read<1>();" => "store_wait_read<2>();"
#include <cstdint>
struct Params { const float4* x; char* y; int tiles; };
template <int kPending> __device__ void store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(kPending) : "memory");
}
template <int kStages, int kBytes>
struct Epilogue {
  static __device__ void run(const Params& p, char* smem) {
    int stage = 0;
    for (int t = blockIdx.x; t < p.tiles; t += gridDim.x) {
      if (threadIdx.x == 0) store_wait_read<1>();
      __syncthreads();
      float4 v = p.x[t * 256 + threadIdx.x];
      reinterpret_cast<float4*>(smem + stage * kBytes)[threadIdx.x] = v;
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncthreads();
      if (threadIdx.x == 0) {
        uint32_t s = (uint32_t)__cvta_generic_to_shared(smem + stage * kBytes);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" : : "l"(p.y + (size_t)t * kBytes), "r"(s), "r"(kBytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      }
      stage = stage + 1 == kStages ? 0 : stage + 1;
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
};
__global__ void __launch_bounds__(256) copy_kernel(Params p) {
  __shared__ __align__(128) char smem[2 * 4096];
  Epilogue<2, 4096>::run(p, smem);
}
