// fault: "    setreg<40, false>();\n" => ""
// fault: "setreg<232, true>();" => "setreg<240, true>();"
// fault: "bar(1, 256, true)" => "bar(1, 384, true)"
// fault: "      bar(2, 384, false);\n" => ""
// fault: "bar(2, 384, true);" => "bar(2, 256, true);"
#include <cstdint>
template <int N, bool Up> __device__ __forceinline__ void setreg() {
  if constexpr (Up) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
  else asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
__device__ __forceinline__ void bar(int id, int n, bool wait) {
  if (wait) asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(n) : "memory");
  else asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(n) : "memory");
}
__global__ void __launch_bounds__(384, 1) roles(const float* in, float* out, int n) {
  __shared__ float x[256];
  const int group = threadIdx.x / 128;
  if (group == 0) {
    setreg<40, false>();
    for (int i = 0; i < n; ++i) {
      bar(2, 384, true);
      out[i * 128 + threadIdx.x] = x[threadIdx.x] + x[threadIdx.x + 128];
      if (i + 1 < n) asm volatile("barrier.arrive 3, 384;" ::: "memory");
    }
  } else {
    setreg<232, true>();
    for (int i = 0; i < n; ++i) {
      if (i > 0) asm volatile("barrier.sync 3, 384;" ::: "memory");
      x[threadIdx.x - 128] = in[i * 256 + threadIdx.x - 128];
      bar(1, 256, true);
      x[threadIdx.x - 128] += in[(threadIdx.x + i) % 128];
      bar(2, 384, false);
    }
  }
}
