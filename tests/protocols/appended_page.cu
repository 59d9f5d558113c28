// fault: "    asm volatile(\"fence.proxy.async.global;\" ::: \"memory\");\n" => ""
// fault: "    keys[place] = added[row + threadIdx.x];\n    asm volatile(\"fence.proxy.async.global;\" ::: \"memory\");" => "    asm volatile(\"fence.proxy.async.global;\" ::: \"memory\");\n    keys[place] = added[row + threadIdx.x];"
// fault: "  __syncthreads();  // the row is added\n" => ""
#include <cstdint>
#include <cuda_fp16.h>
// A row is added to the last page of a sequence; then all pages are copied, which a table leads to.
constexpr int ROWS = 16, WIDTH = 128, PAGE_BYTES = ROWS * WIDTH * 2;
__device__ inline uint32_t in_shared(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__global__ void __launch_bounds__(128) sum_pages(__half *keys, const __half *added, const int *table, const int *lengths, float *out, int most) {
  __shared__ alignas(128) __half page[ROWS * WIDTH];
  __shared__ uint64_t full;
  const int sequence = blockIdx.x, before = lengths[sequence], length = before + 1;
  const int *own = table + sequence * most;
  const size_t row = (size_t)sequence * WIDTH;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(in_shared(&full)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (threadIdx.x < WIDTH) {
    const size_t place = ((size_t)own[before / ROWS] * ROWS + before % ROWS) * WIDTH + threadIdx.x;
    keys[place] = added[row + threadIdx.x];
    asm volatile("fence.proxy.async.global;" ::: "memory");
  }
  __syncthreads();  // the row is added
  float sum = 0.f;
  for (int i = 0; i < (length + ROWS - 1) / ROWS; ++i) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(in_shared(&full)), "r"(PAGE_BYTES) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(in_shared(page)), "l"(keys + (size_t)own[i] * ROWS * WIDTH), "r"(PAGE_BYTES), "r"(in_shared(&full)) : "memory");
    }
    uint32_t ok;
    do {
      asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}" : "=r"(ok) : "r"(in_shared(&full)), "r"(i & 1) : "memory");
    } while (!ok);
    for (int r = 0; r < ROWS && i * ROWS + r < length; ++r) sum += __half2float(page[r * WIDTH + threadIdx.x]);
    __syncthreads();  // the page may be filled again
  }
  out[row + threadIdx.x] = sum;
}
