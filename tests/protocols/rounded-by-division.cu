// fault: "    __syncthreads();  // the object is made\n" => ""
// fault: "        asm volatile(\"mbarrier.init.shared.b64 [%0], %1;\" ::\"r\"(at(&box.full)), \"r\"(2));" => "        asm volatile(\"mbarrier.init.shared.b64 [%0], %1;\" ::\"r\"(at(&box.full)), \"r\"(3));"
// An address that is rounded up by a division, and a number that is handed on at it.
#include <cuda_runtime.h>
#include <cstdint>

struct Box {
    uint64_t full;
    uint32_t slot;
    float data[2][64];
};

__device__ inline uint32_t at(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

__global__ void __launch_bounds__(96) boxed(const float* in, float* out) {
    extern __shared__ uint8_t raw[];
    Box& box = *reinterpret_cast<Box*>(((uintptr_t)raw + 127) / 128 * 128);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(&box.full)), "r"(2));
        box.slot = 1;
    }
    __syncthreads();  // the object is made
    const uint32_t slot = box.slot;
    if (threadIdx.x >= 32) {
        const int t = threadIdx.x - 32;
        box.data[slot][t] = in[t];
        __syncwarp();
        if (t % 32 == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(&box.full)) : "memory");
    } else {
        uint32_t done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(at(&box.full)) : "memory");
        out[threadIdx.x] = box.data[slot][threadIdx.x] + box.data[slot][threadIdx.x + 32];
    }
}

void launch(const float* in, float* out) { boxed<<<1, 96, sizeof(Box) + 128>>>(in, out); }
