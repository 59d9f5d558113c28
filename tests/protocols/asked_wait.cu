// fault: "    asm volatile(\"cp.async.wait_group 0;\\n\" ::: \"memory\");\n" => "    if (depth > 1) asm volatile(\"cp.async.wait_group 0;\\n\" ::: \"memory\");\n"
// fault: "    __syncthreads();\n    float2" => "    float2"
// fault: "      asm volatile(\"cp.async.commit_group;\\n\" ::: \"memory\");\n      asm volatile(\"cp.async.wait_group 1;\\n\" ::: \"memory\");" => "      asm volatile(\"cp.async.wait_group 1;\\n\" ::: \"memory\");"
// fault: "cp.async.wait_group 1;" => "cp.async.wait_group 2;"
// fault: "    __syncthreads();\n  }\n  y[" => "  }\n  y["
// fault: "    } else {\n      asm volatile(\"cp.async.wait_all;\\n\" ::: \"memory\");\n    }" => "    }"
#include <cuda_runtime.h>
#include <cstdint>
__global__ void __launch_bounds__(128) once(const float* x, float* y, int depth) {
    __shared__ alignas(16) float t[512];
    const uint32_t d = (uint32_t)__cvta_generic_to_shared(t + threadIdx.x * 4);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;\n" ::"r"(d), "l"(x + threadIdx.x * 4) : "memory");
    asm volatile("cp.async.commit_group;\n" ::: "memory");
    asm volatile("cp.async.wait_group 0;\n" ::: "memory");
    __syncthreads();
    float2 v = reinterpret_cast<float2*>(t)[255 - threadIdx.x];
    y[threadIdx.x] = v.x * depth + v.y;
}
__global__ void __launch_bounds__(128) ring2(const float* x, float* y, int rounds) {
  __shared__ alignas(16) float t[2][512];
  float s = 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"((uint32_t)__cvta_generic_to_shared(&t[0][threadIdx.x * 4])), "l"(x + threadIdx.x * 4) : "memory");
  asm volatile("cp.async.commit_group;\n" ::: "memory");
  for (int i = 0; i < rounds; i++) {
    if (i + 1 < rounds) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"((uint32_t)__cvta_generic_to_shared(&t[(i + 1) % 2][threadIdx.x * 4])), "l"(x + (i + 1) * 512 + threadIdx.x * 4) : "memory");
      asm volatile("cp.async.commit_group;\n" ::: "memory");
      asm volatile("cp.async.wait_group 1;\n" ::: "memory");
    } else {
      asm volatile("cp.async.wait_all;\n" ::: "memory");
    }
    __syncthreads();
    s += t[i % 2][(threadIdx.x * 4 + 4) % 512];
    __syncthreads();
  }
  y[threadIdx.x] = s;
}
