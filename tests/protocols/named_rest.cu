// fault: "  WAIT(0);\n" => ""
#include <cstdint>
#include <cstdio>

__device__ __forceinline__ void copy16(float* to, const float* from) {
  const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
#define COPY(what...) copy16(what)
#define LOG(format, rest...) printf(format, ##rest)
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(N) asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory")

__global__ void kernel(const float* in, float* out, int n) {
  __shared__ alignas(16) float tile[128];
  if (n < 0) LOG("nothing");
  if (n > 4096) LOG("%d", n);
  if (threadIdx.x < 32) COPY(tile + threadIdx.x * 4, in + threadIdx.x * 4);
  COMMIT();
  WAIT(0);
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

void launch(const float* in, float* out) { kernel<<<1, 128>>>(in, out, 1); }
