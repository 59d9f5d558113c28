// fault: "      asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" ::\"r\"(at(free + slot)) : \"memory\");\n" => ""
// fault: "init(free + i, kRoles[kMath].threads());" => "init(free + i, kRoles[kMath].warps);"
// fault: "wait(free + slot, ~turn & 1);" => "wait(free + slot, turn & 1);"
#include <cstdint>

struct Role {
  int first, warps;
  constexpr __host__ __device__ int threads() const { return warps * 32; }
};
enum Which { kMath, kLoad };
constexpr Role kRoles[] = {{0, 4}, {4, 1}};
__host__ __device__ constexpr int all_threads() {
  int all{0};
  for (const auto& role : kRoles) all += role.threads();
  return all;
}
struct Plan {
  int slots, length;
};
constexpr Plan kPlan{2, 512};
__host__ __device__ constexpr int bytes_of(Plan plan) { return plan.length * int(sizeof(float)); }
__host__ __device__ constexpr int first_thread(int which) { return kRoles[which].first * 32; }

__device__ __forceinline__ uint32_t at(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void init(uint64_t* bar, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(n)); }
__device__ void wait(uint64_t* bar, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(at(bar)), "r"(parity)
                 : "memory");
}

__global__ void __launch_bounds__(all_threads()) rows(const float* in, float* out, int n) {
  __shared__ alignas(128) float row[kPlan.slots][kPlan.length];
  __shared__ uint64_t full[kPlan.slots], free[kPlan.slots];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kPlan.slots; ++i) {
      init(full + i, 1);
      init(free + i, kRoles[kMath].threads());
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= first_thread(kLoad)) {
    if (threadIdx.x != first_thread(kLoad)) return;
    for (int i = 0; i < n; ++i) {
      const int slot = i % kPlan.slots, turn = i / kPlan.slots;
      wait(free + slot, ~turn & 1);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(full + slot)), "r"(bytes_of(kPlan))
                   : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       at(row[slot])),
                   "l"(in + i * kPlan.length), "r"(bytes_of(kPlan)), "r"(at(full + slot))
                   : "memory");
    }
  } else {
    for (int i = 0; i < n; ++i) {
      const int slot = i % kPlan.slots, turn = i / kPlan.slots;
      wait(full + slot, turn & 1);
      for (int e = threadIdx.x; e < kPlan.length; e += kRoles[kMath].threads()) out[i * kPlan.length + e] = row[slot][e ^ 64];
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(free + slot)) : "memory");
    }
  }
}

void launch(const float* in, float* out, int n) { rows<<<1, all_threads()>>>(in, out, n); }
