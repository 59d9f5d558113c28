// fault: "  if (group == 0) {\n    asm volatile(\"setmaxnreg.dec" => "  if (group == 0) {\n    if (threadIdx.x < 32) asm volatile(\"setmaxnreg.dec"
// All warps of a group give registers back, also where the kernel does not say how many it has.
#include <cstdint>
__global__ void __launch_bounds__(256) halves(const float* in, float* out, int n) {
  __shared__ float stage[128];
  const int group = threadIdx.x / 128;
  const int lane = threadIdx.x % 128;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    for (int i = 0; i < n; ++i) {
      asm volatile("bar.sync 1, 256;" ::: "memory");
      stage[lane] = in[i * 128 + lane];
      asm volatile("bar.arrive 2, 256;" ::: "memory");
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 200;");
    for (int i = 0; i < n; ++i) {
      asm volatile("bar.arrive 1, 256;" ::: "memory");
      asm volatile("bar.sync 2, 256;" ::: "memory");
      out[i * 128 + lane] = stage[127 - lane];
    }
  }
}
