// fault: "      while (atomicCAS(lock, 0, 1)) {}\n      __threadfence();\n" => "      while (atomicCAS(lock, 0, 1)) {}\n"
// fault: "      __threadfence();  // before the next one\n" => ""
// fault: "      atomicExch(lock, 0);\n" => ""
#include <cstdint>
#include <cuda_runtime.h>
// The first kernel scales, the second one looks for the largest numbers of what it has stored and keeps the best under a lock.
__device__ __forceinline__ uint32_t addr(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void expect(uint64_t* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(addr(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void mbar_wait(uint64_t* b, int parity) {
  int ok;
  do {
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.s32 %0, 1, 0, p;\n\t}" : "=r"(ok) : "r"(addr(b)), "r"(parity) : "memory");
  } while (!ok);
}
__global__ void __launch_bounds__(256) scale(const float* in, float* scaled, float f, int n) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) scaled[i] = in[i] * f;
  asm volatile("griddepcontrol.launch_dependents;");
}
__global__ void __launch_bounds__(128) largest(const float* scaled, float* best, int* where, int* lock, int tiles) {
  __shared__ alignas(128) float tile[2][1024];
  __shared__ uint64_t full[2];
  __shared__ float of_warps[4];
  const int count = tiles > (int)blockIdx.x ? (tiles - 1 - (int)blockIdx.x) / (int)gridDim.x + 1 : 0;
  auto fetch = [&](int k) {
    const float* from = scaled + (long long)(blockIdx.x + k * gridDim.x) * 1024;
    expect(&full[k & 1], 4096);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" ::"r"(addr(tile[k & 1])), "l"(from), "r"(addr(&full[k & 1])) : "memory");
  };
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(addr(&full[i])));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();  // objects are made
  if (count == 0) return;
  asm volatile("griddepcontrol.wait;" ::: "memory");  // of scale
  if (threadIdx.x == 0) fetch(0);
  float most = -1e30f;
  for (int k = 0; k < count; ++k) {
    if (threadIdx.x == 0 && k + 1 < count) fetch(k + 1);
    mbar_wait(&full[k & 1], (k >> 1) & 1);
    for (int i = threadIdx.x; i < 1024; i += 128) most = fmaxf(most, tile[k & 1][i]);
    __syncthreads();  // tile is used
  }
  for (int d = 16; d; d >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = most;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 4; ++w) most = fmaxf(most, of_warps[w]);
      while (atomicCAS(lock, 0, 1)) {}
      __threadfence();
      if (most > *best) {
        *best = most;
        *where = blockIdx.x;
      }
      __threadfence();  // before the next one
      atomicExch(lock, 0);
  }
}
void go(const float* in, float* scaled, float* best, int* where, int* lock, float f, int tiles) {
  scale<<<264, 256>>>(in, scaled, f, tiles * 1024);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(132);
  config.blockDim = dim3(128);
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, largest, (const float*)scaled, best, where, lock, tiles);
}
