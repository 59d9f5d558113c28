// fault: "    asm volatile(\"cp.async.wait_group 1;\" ::: \"memory\");\n" => ""
// fault: "    __syncthreads();\n" => ""
// fault: "    asm volatile(\"cp.async.commit_group;\" ::: \"memory\"); // next\n" => ""

// A lambda that nvcc is told to make for the device, with a copy of what it names.
#include <cuda_runtime.h>

template <int T>
__global__ void __launch_bounds__(T) planes(const float4* in, float4* out, int n) {
  __shared__ float4 ring[3][T];
  const int tid = threadIdx.x;
  auto fetch = [=] __device__(int slot, int plane) {
    unsigned to = (unsigned)__cvta_generic_to_shared(&ring[slot][tid]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + plane * T + tid) : "memory");
  };
  for (int s = 0; s < 2; ++s) {
    if (s < n) fetch(s, s);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int p = 0; p < n; ++p) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    out[p * T + tid] = ring[p % 3][T - 1 - tid];
    if (p + 2 < n) fetch((p + 2) % 3, p + 2);
    asm volatile("cp.async.commit_group;" ::: "memory"); // next
  }
}

void launch(const float4* in, float4* out, int n) { planes<128><<<1, 128>>>(in, out, n); }
