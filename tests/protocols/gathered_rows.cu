// fault: "cp.async.mbarrier.arrive.noinc.shared::cta.b64" => "cp.async.mbarrier.arrive.shared::cta.b64"
// fault: "      wait_for(full + i % 4, (i / 4) & 1);\n" => ""
// fault: "      wait_for(empty + i % 4, (i / 4 + 1) & 1);\n" => "      wait_for(empty + i % 4, (i / 4) & 1);\n"
// fault: "setup(full + i, 64);" => "setup(full + i, 1);"
// fault: "      done(empty + i % 4);\n" => "      if (i > 0) done(empty + i % 4);\n"
// fault: "setup(empty + i, 128);" => "setup(empty + i, 64);"
#include <cstdint>
using u32 = uint32_t;
__device__ u32 cvt(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
__device__ void setup(uint64_t* b, u32 n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(cvt(b)), "r"(n)); }
__device__ void done(uint64_t* b) { asm volatile("{\n.reg .b64 s;\nmbarrier.arrive.shared.b64 s, [%0];\n}" ::"r"(cvt(b)) : "memory"); }
__device__ void wait_for(uint64_t* b, u32 par) {
  u32 ok = 0;
  do {
    asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(ok) : "r"(cvt(b)), "r"(par) : "memory");
    if (!ok) __nanosleep(20);
  } while (!ok);
}
__global__ void __launch_bounds__(192) gather_rows(const int* idx, const char* table, int* out, int n) {
  __shared__ alignas(16) char stage[4][1024];
  __shared__ uint64_t full[4], empty[4];
  if (threadIdx.x < 4) {
    const int i = threadIdx.x;
    setup(full + i, 64);
    setup(empty + i, 128);
  }
  __syncthreads();
  if (threadIdx.x < 64) {
    for (int i = 0; i < n; i++) {
      const char* row = table + (size_t)idx[i] * 1024;
      wait_for(empty + i % 4, (i / 4 + 1) & 1);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(cvt(&stage[i % 4][threadIdx.x * 16])), "l"(row + threadIdx.x * 16) : "memory");
      asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(cvt(full + i % 4)) : "memory");
    }
  } else {
    int s = 0;
    for (int i = 0; i < n; i++) {
      wait_for(full + i % 4, (i / 4) & 1);
      const int* p = reinterpret_cast<const int*>(stage[i % 4]);
      s += p[threadIdx.x - 64] ^ p[255 - threadIdx.x + 64];
      done(empty + i % 4);
    }
    out[threadIdx.x - 64] = s;
  }
}
