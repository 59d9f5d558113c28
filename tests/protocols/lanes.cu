// fault: "[%1], %2; selp.b32 %0, 1, 0, p;}\" : \"=r\"(ok) : \"r\"(address(&bar)), \"r\"(i & 1)" => "[%1], %2; selp.b32 %0, 1, 0, p;}\" : \"=r\"(ok) : \"r\"(address(&bar)), \"r\"(0)"
// fault: "[%0], 1024;\" :: \"r\"(address(&bar))" => "[%0], 512;\" :: \"r\"(address(&bar))"

#include <cstdint>
__device__ uint32_t address(void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

// One lane waits, and the others meet it.
__global__ void __launch_bounds__(32) one_warp(const int *in, int *out, int n) {
  __shared__ alignas(128) int buffer[256];
  __shared__ uint64_t bar;
  int lane = threadIdx.x & 31;
  if (lane == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(address(&bar)));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncwarp();
  int sum = 0;
  for (int i = 0; i < n; i++) {
    if (lane == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" :: "r"(address(&bar)) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" :: "r"(address(buffer)), "l"(in + i * 256), "r"(address(&bar)) : "memory");
      int ok = 0;
      while (!ok) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}" : "=r"(ok) : "r"(address(&bar)), "r"(i & 1) : "memory");
    }
    __syncwarp();
    sum += buffer[lane * 4];
    __syncwarp();
  }
  out[lane] = sum;
}
