// fault: "expect(&full_a, sizeof(tile_a));" => "expect(&full_a, sizeof(tile_a) / 2);"
// fault: "expect(&full_b, 32 * 64 * 2);" => "expect(&full_b, 32 * 64);"
// fault: "wait(&full_b, 0);" => ""
// Two tiles, each with a phase of its own: how much comes only the matrices tell that are read.
#include <cstdint>
#include <cuda.h>
#include <cuda_bf16.h>
__device__ __forceinline__ uint32_t place(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void make(uint64_t* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(b)), "r"(n)); }
__device__ __forceinline__ void expect(uint64_t* b, uint32_t n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void wait(uint64_t* b, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN_%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN_%=;\n}" ::"r"(place(b)), "r"(parity) : "memory");
}
__device__ __forceinline__ void fetch(void* to, const CUtensorMap* map, uint64_t* b, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(place(to)), "l"(map), "r"(place(b)), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ uint64_t described(uint32_t at) { return ((at & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62; }
__global__ void __launch_bounds__(128) product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* out) {
  __shared__ alignas(1024) __nv_bfloat16 tile_a[64 * 64];
  __shared__ alignas(1024) __nv_bfloat16 tile_b[32 * 64];
  __shared__ uint64_t full_a, full_b;
  if (threadIdx.x == 0) {
    make(&full_a, 1);
    make(&full_b, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    expect(&full_a, sizeof(tile_a));
    fetch(tile_a, &a, &full_a, 0, blockIdx.x * 64);
    asm volatile("" ::: "memory");
    // the second operand

    expect(&full_b, 32 * 64 * 2);
    fetch(tile_b, &b, &full_b, 0, 0);
  }
  __syncthreads();
  float d[16] = {};
  wait(&full_a, 0);
  wait(&full_b, 0);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int k = 0; k < 4; ++k)
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
                 : "l"(described(place(tile_a) + k * 32)), "l"(described(place(tile_b) + k * 32)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 16; ++i) out[(blockIdx.x * 128 + threadIdx.x) * 16 + i] = d[i];
}
