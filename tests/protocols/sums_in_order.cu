// fault: "    if (g < kGroups - 1 || k + 1 < rounds) turn_arrive(g);\n" => "    if (k + 1 < rounds) turn_arrive(g);\n"
// fault: "  __syncthreads();  // all rounds\n" => ""
// fault: "    asm volatile(\"cp.async.wait_group 1;\" ::: \"memory\");\n" => ""
#include <cuda_runtime.h>
// Three groups of 128 threads add to one total in a fixed order, so that the sum is the same each time.
constexpr int kGroups = 3;
__device__ __forceinline__ void turn_sync(int pair) { asm volatile("bar.sync %0, %1;" ::"r"(1 + pair), "n"(256) : "memory"); }
__device__ __forceinline__ void turn_arrive(int pair) { asm volatile("bar.arrive %0, %1;" ::"r"(1 + pair), "n"(256) : "memory"); }
__global__ void __launch_bounds__(128 * kGroups) ordered(const float* in, float* out, int rounds) {
  __shared__ float total, parts[kGroups][4], tile[kGroups][2][128];
  const int g = threadIdx.x / 128, t = threadIdx.x % 128;
  if (threadIdx.x == 0) total = 0.f;
  __syncthreads();  // total is nought
  auto fetch = [&](int k) {
    const float* from = in + (((long long)blockIdx.x * rounds + k) * kGroups + g) * 128 + t;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&tile[g][k % 2][t])), "l"(from) : "memory");
  };
  if (rounds > 0) fetch(0);
  asm volatile("cp.async.commit_group;" ::: "memory");
  if (g == kGroups - 1 && rounds > 0) turn_arrive(kGroups - 1);  // the first one may go
  for (int k = 0; k < rounds; ++k) {
    if (k + 1 < rounds) fetch(k + 1);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(12 + g) : "memory");  // tile of the group
    float x = tile[g][k % 2][t ^ 64];
    for (int d = 16; d; d /= 2) x += __shfl_xor_sync(~0u, x, d);
    if (t % 32 == 0) parts[g][t / 32] = x;
    asm volatile("bar.sync %0, 128;" ::"r"(9 + g) : "memory");  // parts of the group
    turn_sync(g == 0 ? kGroups - 1 : g - 1);
    if (t == 0) total += parts[g][0] + parts[g][1] + parts[g][2] + parts[g][3];
    if (g < kGroups - 1 || k + 1 < rounds) turn_arrive(g);
  }
  __syncthreads();  // all rounds
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}
void go(const float* in, float* out, int blocks, int rounds) { ordered<<<blocks, 128 * kGroups>>>(in, out, rounds); }
