// fault: "    wait<Shape::kStages - 2>();\n" => ""
// fault: "    wait(full + slot, turn & 1);\n" => ""
// fault: "wait(full + slot, turn & 1);" => "wait(full + slot, ~turn & 1);"
// fault: "    __syncthreads();\n    issue(i + Shape::kStages - 1);\n" => "    issue(i + Shape::kStages - 1);\n"
#include <cstdint>

namespace common {
__device__ __forceinline__ uint32_t at(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
constexpr int kStages = 7;
}  // namespace common

namespace app {
namespace groups {
struct Shape {
  static constexpr int kStages = 3, kElements = 512, kThreads = 128;
};
constexpr float kScale = 2.f;
__device__ __forceinline__ void load(float* to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(common::at(to)), "l"(from) : "memory");
}
template <int N>
__device__ __forceinline__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
__global__ void __launch_bounds__(Shape::kThreads) kernel(const float* in, float* out, int n) {
  __shared__ alignas(16) float ring[Shape::kStages][Shape::kElements];
  const auto issue = [&](int i) {
    if (i < n) load(&ring[i % Shape::kStages][threadIdx.x * 4], in + i * Shape::kElements + threadIdx.x * 4);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int i = 0; i < Shape::kStages - 1; ++i) issue(i);
  for (int i = 0; i < n; ++i) {
    wait<Shape::kStages - 2>();
    __syncthreads();
    issue(i + Shape::kStages - 1);
    for (int e = threadIdx.x; e < Shape::kElements; e += Shape::kThreads)
      out[i * Shape::kElements + e] = kScale * ring[i % Shape::kStages][Shape::kElements - 1 - e];
  }
}
}  // namespace groups

namespace bulk {
struct Shape {
  static constexpr int kStages = 4, kElements = 1024, kThreads = 256;
};
constexpr float kScale = 3.f;
__device__ __forceinline__ void load(float* to, const float* from, uint64_t* bar) {
  const uint32_t bytes = Shape::kElements * sizeof(float);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(common::at(bar)), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   common::at(to)),
               "l"(from), "r"(bytes), "r"(common::at(bar))
               : "memory");
}
__device__ __forceinline__ void wait(uint64_t* bar, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(common::at(bar)), "r"(parity)
                 : "memory");
}
__global__ void __launch_bounds__(Shape::kThreads) kernel(const float* in, float* out, int n) {
  __shared__ alignas(128) float ring[Shape::kStages][Shape::kElements];
  __shared__ uint64_t full[Shape::kStages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < Shape::kStages; ++i)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(common::at(full + i)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 0; i < Shape::kStages && i < n; ++i) load(ring[i], in + i * Shape::kElements, full + i);
  for (int i = 0; i < n; ++i) {
    const int slot = i % Shape::kStages, turn = i / Shape::kStages;
    wait(full + slot, turn & 1);
    for (int e = threadIdx.x; e < Shape::kElements; e += Shape::kThreads)
      out[i * Shape::kElements + e] = kScale * ring[slot][Shape::kElements - 1 - e];
    __syncthreads();
    if (threadIdx.x == 0 && i + Shape::kStages < n)
      load(ring[slot], in + (i + Shape::kStages) * Shape::kElements, full + slot);
  }
}
}  // namespace bulk

void launch(bool is_new, const float* in, float* out, int n) {
  namespace fast = bulk;
  if (is_new) fast::kernel<<<1, fast::Shape::kThreads>>>(in, out, n);
  else groups::kernel<<<1, groups::Shape::kThreads>>>(in, out, n);
}
}  // namespace app
