// fault: "wait_group<kStages == 1 ? 0 : kStages - 2>();" => "wait_group<kStages == 1 ? 0 : kStages - 1>();"
// fault: "    __syncthreads();\n    int v = 0;" => "    int v = 0;"
// fault: "    if (kAhead != 0) commit();\n" => "    if (kAhead == 0) commit();\n"
// fault: "    if (kAhead != 0) commit();\n" => "    if (i < rounds) commit();\n"
#include <cstdint>
constexpr int kStages = 4, kTile = 512, kAhead = kStages - 1;
__device__ __forceinline__ uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(void* to, const void* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory"); }
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending> __device__ __forceinline__ void wait_group() { asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory"); }
__global__ void __launch_bounds__(128) rows(const int* in, int* out, int rounds) {
  __shared__ alignas(16) int tile[kStages][kTile];
  auto load = [&](int i) {
    if (i < rounds) copy16(&tile[i % kStages][threadIdx.x * 4], in + i * kTile + threadIdx.x * 4);
    if (kAhead != 0) commit();
  };
  for (int i = 0; i < kAhead; i++) load(i);
  for (int i = 0; i < rounds; i++) {
    wait_group<kStages == 1 ? 0 : kStages - 2>();
    __syncthreads();
    int v = 0;
    for (int j = 0; j < 4; j++) v += tile[i % kStages][kTile - 1 - (threadIdx.x * 4 + j)];
    out[i * 128 + threadIdx.x] = v;
    load(i + kAhead);
  }
}
