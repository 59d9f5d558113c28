// fault: "wait_group.read 1" => "wait_group.read 2"
// fault: "    if (threadIdx.x == 0) asm volatile(\"cp.async.bulk.wait_group.read 1;\" ::: \"memory\");\n" => ""
// fault: "    fence_async();\n" => ""
// fault: "    __syncthreads();\n    tile[slot]" => "    tile[slot]"
// fault: "    __syncthreads();\n    if (threadIdx.x == 0) {\n      store" => "    if (threadIdx.x == 0) {\n      store"
// fault: "    fence_async();\n    __syncthreads();\n" => "    __syncthreads();\n    if (threadIdx.x == 32) fence_async();\n"
// fault: "i % 2" => "0"
// fault: "  if (threadIdx.x == 0) asm volatile(\"cp.async.bulk.wait_group 0;\" ::: \"memory\");\n}" => "}"

#include <cstdint>

namespace {
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void bulk_store(void* to, const void* from, int bytes) {
  uint32_t smem = static_cast<uint32_t>(__cvta_generic_to_shared(from));
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(smem), "r"(bytes)
               : "memory");
}
}  // namespace

// Two tiles in turn: one is written while the other is stored.
__global__ void scale(const float* in, float* out, int rounds) {
  __shared__ alignas(128) float tile[2][128];
  for (int i = 0; i < rounds; i++) {
    const int slot = i % 2;
    auto store = [&](int from) { bulk_store(out + i * 128, tile[from], sizeof(tile[0])); };
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncthreads();
    tile[slot][threadIdx.x] = in[i * 128 + threadIdx.x] * 2.0f;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
      store(slot);
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

void run(const float* in, float* out, int rounds) { scale<<<1, 128>>>(in, out, rounds); }
