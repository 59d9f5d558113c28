// fault: "asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\");" => ""
#include <mma.h>
#include <cstdint>
using namespace nvcuda;
__global__ void __launch_bounds__(32) k(const half* a, const half* b, float* c, int n) {
  __shared__ alignas(128) half as[16 * 16];
  __shared__ alignas(128) half bs[16 * 16];
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < n; ++i) {
    uint32_t ta = (uint32_t)__cvta_generic_to_shared(as + threadIdx.x * 8), tb = (uint32_t)__cvta_generic_to_shared(bs + threadIdx.x * 8);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(ta), "l"(a + i * 256 + threadIdx.x * 8) : "memory");
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(tb), "l"(b + i * 256 + threadIdx.x * 8) : "memory");
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads(); // both are there
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, as, 16);
    wmma::load_matrix_sync(fb, bs, 16);
    wmma::mma_sync(sum, fa, fb, sum);
    __syncthreads();
  }
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
