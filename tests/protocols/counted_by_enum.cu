// fault: "enum { kBoth = Readers + 32, kId = 1, kNext }" => "enum { kBoth = Readers, kId = 1, kNext }"
// fault: "    Turn::filled();\n" => ""
#include <cuda_runtime.h>
template <int Readers> struct TurnOf {
  enum { kBoth = Readers + 32, kId = 1, kNext };
  static __device__ void filled() { asm volatile("bar.sync %0, %1;" ::"r"((int)kId), "r"((int)kBoth) : "memory"); }
  static __device__ void read() { asm volatile("bar.sync %0, %1;" ::"r"((int)kNext), "r"((int)kBoth) : "memory"); }
};
using Turn = TurnOf<96>;
__global__ void __launch_bounds__(128) k(const float* in, float* out, int n) {
  __shared__ float row[96];
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x >= 96)
      for (int j = threadIdx.x - 96; j < 96; j += 32) row[j] = in[i * 96 + j];
    Turn::filled();
    if (threadIdx.x < 96) sum += row[95 - threadIdx.x];
    Turn::read();
  }
  if (threadIdx.x < 96) out[threadIdx.x] = sum;
}
