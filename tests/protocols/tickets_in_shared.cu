// fault: "(ticket / kSlots) & 1" => "ticket & 1"
// fault: "      slots.item[k % kSlots] = t < tiles ? t : -1;\n      arrive(&slots.full[k % kSlots]);\n" => "      arrive(&slots.full[k % kSlots]);\n      slots.item[k % kSlots] = t < tiles ? t : -1;\n"
// fault: "      item = slots.item[ticket % kSlots];\n      arrive(&slots.free[ticket % kSlots]);\n" => "      arrive(&slots.free[ticket % kSlots]);\n      item = slots.item[ticket % kSlots];\n"
// fault: "ends < kWorkers" => "ends < 1"
// fault: "      until(&slots.free[k % kSlots], ((k / kSlots) & 1) ^ 1);\n" => ""
#include <cuda_runtime.h>
#include <stdint.h>
// One warp puts the tiles of the block into a queue in shared memory, whichever worker is free takes the next one.
constexpr int kSlots = 4, kWorkers = 3;
struct Slots {
  uint64_t full[kSlots], free[kSlots];
  int item[kSlots], head;
};
__device__ inline uint32_t addr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ inline void make(uint64_t* b, int count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(addr(b)), "r"(count)); }
__device__ inline void arrive(uint64_t* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(addr(b)) : "memory"); }
__device__ inline void until(uint64_t* b, int parity) {
  int ok = 0;
  while (ok == 0)
    asm volatile("{\n.reg .pred q;\nmbarrier.test_wait.parity.shared.b64 q, [%1], %2;\nselp.s32 %0, 1, 0, q;\n}" : "=r"(ok) : "r"(addr(b)), "r"(parity) : "memory");
}
__global__ __launch_bounds__(32 * (kWorkers + 1)) void queued(const float* in, float* out, int tiles) {
  __shared__ Slots slots;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kSlots; ++i) {
      make(&slots.full[i], 1);
      make(&slots.free[i], 1);
    }
    slots.head = 0;
  }
  __syncthreads();
  if (warp == kWorkers) {
    if (lane != 0) return;
    for (int k = 0, t = blockIdx.x, ends = 0; ends < kWorkers; ++k, t += gridDim.x) {
      until(&slots.free[k % kSlots], ((k / kSlots) & 1) ^ 1);
      slots.item[k % kSlots] = t < tiles ? t : -1;
      arrive(&slots.full[k % kSlots]);
      ends += t >= tiles;
    }
    return;
  }
  while (true) {
    int item = 0;
    if (lane == 0) {
      const int ticket = atomicAdd(&slots.head, 1);
      until(&slots.full[ticket % kSlots], (ticket / kSlots) & 1);
      item = slots.item[ticket % kSlots];
      arrive(&slots.free[ticket % kSlots]);
    }
    const int mine = __shfl_sync(~0u, item, 0);
    if (mine < 0) break;
    float x = in[mine * 32 + lane];
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
    if (lane == 0) out[mine] = x;
  }
}
void launch(const float* in, float* out, int tiles) { queued<<<264, 32 * (kWorkers + 1)>>>(in, out, tiles); }
