// fault: "mbar_expect_tx(&ready[b], kRows * kRowBytes);" => "mbar_expect_tx(&ready[b], kRowBytes);"
// fault: "    mbar_wait(&ready[b], (t >> 1) & 1);\n" => ""
// fault: "(t >> 1) & 1" => "t & 1"
// fault: "    __syncthreads();\n    if (warp == 0 && t + 2 < steps) issue(t + 2);" => "    if (warp == 0 && t + 2 < steps) issue(t + 2);"
// fault: "mbar_init(&ready[i], 1);" => "mbar_init(&ready[i], 32);"
#include <cstdint>
__device__ __forceinline__ uint32_t smem_u32(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void mbar_init(uint64_t* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void mbar_expect_tx(uint64_t* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void mbar_wait(uint64_t* b, int phase) {
  uint32_t done;
  do {
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : "r"(smem_u32(b)), "r"(phase) : "memory");
  } while (done == 0);
}
constexpr int kRows = 32, kRowBytes = 256;
__global__ void __launch_bounds__(128) paged(const int* __restrict__ table, const char* __restrict__ pool, int* out, int steps) {
  __shared__ alignas(128) char rows[2][kRows * kRowBytes];
  __shared__ uint64_t ready[2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) mbar_init(&ready[i], 1);
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  auto issue = [&](int t) {
    const int b = t & 1;
    if (lane == 0) mbar_expect_tx(&ready[b], kRows * kRowBytes);
      __syncwarp();
    const char* src = pool + (size_t)table[t * kRows + lane] * kRowBytes;
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem_u32(rows[b] + lane * kRowBytes)), "l"(src), "r"(kRowBytes), "r"(smem_u32(&ready[b])) : "memory");
  };
  if (warp == 0) {
    issue(0);
    if (steps > 1) issue(1);
  }
  int acc = 0;
  for (int t = 0; t < steps; ++t) {
    const int b = t & 1;
    mbar_wait(&ready[b], (t >> 1) & 1);
    const int* v = reinterpret_cast<const int*>(rows[b]);
    for (int i = threadIdx.x; i < kRows * kRowBytes / 4; i += 128) acc += v[i];
    __syncthreads();
    if (warp == 0 && t + 2 < steps) issue(t + 2);
  }
  out[threadIdx.x] = acc;
}
