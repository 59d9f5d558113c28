// fault: "  wait_for<kPlan.kept>(); // by an object\n" => ""
// fault: "  wait_for<P.kept>(); // by the kernel's\n" => ""
// fault: "  wait_for<0>(); // by arrays\n" => ""
#include <cstdint>

struct Plan {
  int stages;
  int width;
  int kept = 0;
};
constexpr Plan kPlan{2, 4};

__device__ __forceinline__ void copy16(float* to, const float* from) {
  const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
template <int N>
__device__ __forceinline__ void wait_for() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
template <Plan P>
struct Steps {
  static constexpr int kStep = P.width;
};
template <Plan P>
__device__ __forceinline__ void fill(float* to, const float* from) {
  copy16(to + threadIdx.x * Steps<P>::kStep, from + threadIdx.x * P.width);
}
template <const Plan& P>
__device__ __forceinline__ void fill_by(float* to, const float* from) {
  copy16(to + threadIdx.x * P.width, from);
}
// Arrays of different elements, and of different lengths.
__device__ int width_of(const float (&)[2]) { return 1; }
__device__ int width_of(const float (&)[4]) { return 4; }
__device__ int width_of(const double (&)[4]) { return 2; }

__global__ void by_object(const float* in, float* out) {
  __shared__ alignas(16) float tile[256];
  fill<Plan{2, 4}>(tile, in);
  fill_by<kPlan>(tile + 128, in);
  asm volatile("cp.async.commit_group;" ::: "memory");
  wait_for<kPlan.kept>(); // by an object
  __syncthreads();
  out[threadIdx.x] = tile[255 - threadIdx.x];
}

template <Plan P>
__global__ void by_its_own(const float* in, float* out) {
  __shared__ alignas(16) float tile[32 * P.width];
  fill<P>(tile, in);
  asm volatile("cp.async.commit_group;" ::: "memory");
  wait_for<P.kept>(); // by the kernel's
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void by_arrays(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  const float four[4] = {};
  copy16(&tile[threadIdx.x * width_of(four)], in);
  asm volatile("cp.async.commit_group;" ::: "memory");
  wait_for<0>(); // by arrays
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

void launch(const float* in, float* out) {
  by_object<<<1, 32>>>(in, out);
  by_its_own<kPlan><<<1, 32>>>(in, out);
  by_arrays<<<1, 32>>>(in, out);
}
