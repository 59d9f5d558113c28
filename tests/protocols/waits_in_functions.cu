// fault: "  wait_for<0>(); // all\n}" => "}"
#include <cuda_fp16.h>
#include <cstdint>

__device__ __forceinline__ uint64_t descriptor(const __half* of) {
  const uint32_t at = (uint32_t)__cvta_generic_to_shared(of);
  return (uint64_t(1) << 62) | (uint64_t(64) << 32) | (uint64_t(1) << 16) | ((at & 0x3ffff) >> 4);
}
__device__ __forceinline__ void multiply(float (&d)[8], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
               : "l"(a), "l"(b));
}
template <int N>
__device__ __forceinline__ void wait_for() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

// The last wait is the function's own, far from where the accumulators are read.
__device__ void products(const __half* a, const __half* b, float (&sums)[8], int rounds) {
  for (int round = 0; round < rounds; ++round) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 4; ++k)
      multiply(sums, descriptor(a) + 2 * k, descriptor(b) + 2 * k);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    wait_for<1>();
    // The next round reads the same tiles.
    //
    //
  }
  //
  //
  wait_for<0>(); // all
}

__global__ void __launch_bounds__(128) repeated(const uint4* in, float* out, int rounds) {
  __shared__ alignas(128) __half a[64 * 64];
  __shared__ alignas(128) __half b[16 * 64];
  for (int i = threadIdx.x; i < 512; i += 128) reinterpret_cast<uint4*>(a)[i] = in[i];
  reinterpret_cast<uint4*>(b)[threadIdx.x] = in[512 + threadIdx.x];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float sums[8] = {};
  products(a, b, sums, rounds);
  //
  //
  //
  //
  float* row = out + threadIdx.x * 8;
  //
  //
  //
  //
  for (int i = 0; i < 8; ++i) row[i] = sums[i];
}

void launch(const uint4* in, float* out, int rounds) { repeated<<<1, 128>>>(in, out, rounds); }
