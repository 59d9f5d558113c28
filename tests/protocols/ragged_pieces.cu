// fault: "        asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;\" ::\"r\"(at(&full)) : \"memory\");\n" => ""
// fault: "      parity ^= 1;\n" => ""
// fault: "      __syncthreads();  // the piece is used up\n" => ""
#include <cstdint>

__device__ __forceinline__ uint32_t at(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

// Rows of different lengths come in pieces: what is in memory tells how many.
__global__ void __launch_bounds__(256) sums_of_rows(const float* in, const int* begins, float* out, int rows) {
  __shared__ alignas(128) float piece[256];
  __shared__ alignas(8) uint64_t full;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  uint32_t parity = 0;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const int begin = begins[row], end = begins[row + 1];
    float sum = 0.f;
    for (int i = begin; i < end; i += 256) {
      if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(at(&full)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(at(piece)), "l"(in + i), "r"(at(&full)) : "memory");
      }
      asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(at(&full)), "r"(parity) : "memory");
      parity ^= 1;
      sum += piece[255 - threadIdx.x];
      __syncthreads();  // the piece is used up
    }
    out[row * 256 + threadIdx.x] = sum;
  }
}
