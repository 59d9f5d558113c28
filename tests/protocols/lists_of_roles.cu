// fault: "      wait(&full, n & 1);\n" => ""
#include <cstdint>

__device__ __forceinline__ uint32_t at(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void make(uint64_t* b, uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void arrive(uint64_t* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
__device__ __forceinline__ void wait(uint64_t* b, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nL:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra L;\n}" ::"r"(at(b)), "r"(parity) : "memory");
}

// One warp loads the pieces of each part of a list, four warps add them up.
__global__ void __launch_bounds__(160) sums_of_parts(const float* in, const int* begins, const int* order, float* out, int parts) {
  __shared__ alignas(128) float piece[128];
  __shared__ alignas(8) uint64_t full, empty;
  if (threadIdx.x == 0) {
    make(&full, 1);
    make(&empty, 4);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  int n = 0;
  if (threadIdx.x >= 128) {
    for (int p = blockIdx.x; p < parts && threadIdx.x == 128; p += gridDim.x) {
      const int part = order[p];
      for (int i = begins[part]; i < begins[part + 1]; i += 128, ++n) {
        wait(&empty, (n & 1) ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(at(&full)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(at(piece)), "l"(in + i), "r"(at(&full)) : "memory");
      }
    }
    return;
  }
  for (int p = blockIdx.x; p < parts; p += gridDim.x) {
    const int part = order[p], begin = begins[part], length = begins[part + 1] - begin;
    float sum = 0.f;
    for (int i = 0; i < length; i += 128, ++n) {
      wait(&full, n & 1);
      if (i + threadIdx.x < length) sum += piece[threadIdx.x];
      __syncwarp();
      if (threadIdx.x % 32 == 0) arrive(&empty);
    }
    out[part * 128 + threadIdx.x] = sum;
  }
}
