// fault: "    const int next = row + 2 * gridDim.x;\n    __syncthreads();\n" => "    const int next = row + 2 * gridDim.x;\n"
// fault: "    full[it & 1].wait((it >> 1) & 1);\n" => ""
// A row is changed in place after its copy has come; the copies after it read other rows.
#include <cuda_runtime.h>
#include <cstdint>
constexpr int COLUMNS = 512, THREADS = 128;
struct Object {
  uint64_t word;
  __device__ uint32_t at() { return (uint32_t)__cvta_generic_to_shared(&word); }
  __device__ void init() { asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at()) : "memory"); }
  __device__ void wait(uint32_t parity) {
    asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(at()), "r"(parity) : "memory");
  }
  __device__ void fetch(float* to, const float* from) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at()), "r"(COLUMNS * 4) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from), "r"(COLUMNS * 4), "r"(at()) : "memory");
  }
};
__global__ void __launch_bounds__(THREADS) scale_rows(float* x, int rows) {
  __shared__ alignas(128) float tile[2][COLUMNS];
  __shared__ Object full[2];
  if (threadIdx.x == 0) {
    full[0].init();
    full[1].init();
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 0, row = blockIdx.x; i < 2 && row < rows; ++i, row += gridDim.x) full[i].fetch(tile[i], x + (size_t)row * COLUMNS);
  int it = 0;
  for (int row = blockIdx.x; row < rows; row += gridDim.x, ++it) {
    full[it & 1].wait((it >> 1) & 1);
    for (int c = threadIdx.x; c < COLUMNS; c += THREADS) x[(size_t)row * COLUMNS + c] = tile[it & 1][c ^ 1] * 2.f;
    const int next = row + 2 * gridDim.x;
    __syncthreads();
    if (threadIdx.x == 0 && next < rows) full[it & 1].fetch(tile[it & 1], x + (size_t)next * COLUMNS);
  }
}
void run(float* x, int rows) { scale_rows<<<64, THREADS>>>(x, rows); }
