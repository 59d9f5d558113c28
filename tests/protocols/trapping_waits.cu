// fault: "    wait_or_trap(full[slot], turn & 1);\n" => ""
// fault: "(turn & 1) ^ 1);" => "turn & 1);"
// fault: "\"r\"(at(&full[slot])), \"r\"(2048)" => "\"r\"(at(&full[slot])), \"r\"(1024)"
#include <cstdint>
#include <cstdio>

#define CHECK(condition)                              \
  do {                                                \
    if (not(condition)) {                             \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      asm("trap;");                                   \
    }                                                 \
  } while (0)

__device__ __forceinline__ uint32_t at(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ bool is_done(const uint64_t& bar, uint32_t parity) {
  uint32_t done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(at(&bar)), "r"(parity)
               : "memory");
  return done;
}
__device__ __forceinline__ void give_up(int where) {
  printf("gave up at %d\n", where);
  __trap();
}
__device__ __forceinline__ void wait_or_trap(const uint64_t& bar, uint32_t parity) {
  const long long begin = clock64();
  while (!is_done(bar, parity)) {
    if (clock64() - begin > 1000000000ll) give_up(1);
  }
}

__global__ void __launch_bounds__(160) rows(const float* table, const int* index, float* out, int n, int count) {
  __shared__ alignas(128) float row[2][512];
  __shared__ uint64_t full[2], empty[2];
  CHECK(blockDim.x == 160);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[i])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(at(&empty[i])) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    if (threadIdx.x != 128) return;
    for (int i = 0; i < n; ++i) {
      const int slot = i & 1, turn = i >> 1, which = index[i];
      if (which >= 0 && which < count) {
        wait_or_trap(empty[slot], (turn & 1) ^ 1);
      } else {
        give_up(2);
      }
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&full[slot])), "r"(2048) : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];" ::"r"(at(row[slot])),
          "l"(table + which * 512ll), "r"(at(&full[slot]))
          : "memory");
    }
    return;
  }
  for (int i = 0; i < n; ++i) {
    const int slot = i & 1, turn = i >> 1;
    wait_or_trap(full[slot], turn & 1);
    for (int e = threadIdx.x; e < 512; e += 128) out[i * 512ll + e] = row[slot][e ^ 64];
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&empty[slot])) : "memory");
  }
}

void launch(const float* t, const int* i, float* o, int n, int c) { rows<<<1, 160>>>(t, i, o, n, c); }
