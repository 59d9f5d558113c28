// fault: "wait(&m->full[s], ph);" => "wait(&m->full[0], ph);"
// fault: "for (float x : view{tiles + s * 64, 64}) sum += x;\n        __syncthreads();" => "for (float x : view{tiles + s * 64, 64}) sum += x;"
// fault: "\"n\"(64 * 4)" => "\"n\"(32 * 4)"

#include <cstddef>
#include <cstdint>

struct Meta {
    uint64_t full[2];
};

struct view {
    const float* first;
    int count;
    __device__ const float* begin() const { return first; }
    __device__ const float* end() const { return first + count; }
};

// Takes the next piece of dynamic memory, rounded up as its type asks.
template <class T>
__device__ T* carve(uint8_t*& at, size_t count, size_t align = alignof(T)) {
    auto place = reinterpret_cast<uintptr_t>(at);
    place = (place + align - 1) & ~(align - 1);
    T* piece = reinterpret_cast<T*>(place);
    at = reinterpret_cast<uint8_t*>(piece + count);
    return piece;
}

__device__ uint32_t smem(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

__device__ void wait(uint64_t* b, uint32_t parity) {
    uint32_t ok;
    do {
        asm volatile(
            "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
            : "=r"(ok)
            : "r"(smem(b)), "r"(parity)
            : "memory");
    } while (!ok);
}

__global__ void __launch_bounds__(64) carved(const float* g, float* o, int n) {
    extern __shared__ __align__(128) uint8_t raw[];
    uint8_t* p = raw;
    float* tiles = carve<float>(p, 2 * 64, 128);
    Meta* m = carve<Meta>(p, 1);
    if (threadIdx.x < 2) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(smem(&m->full[threadIdx.x])));
    __syncthreads();
    for (int t = 0; t < n; ++t) {
        int s = t % 2;
        uint32_t ph = (t / 2) & 1;
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(smem(&m->full[s])), "n"(64 * 4));
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(
                    smem(tiles + s * 64)),
                "l"(g + t * 64), "r"(smem(&m->full[s]))
                : "memory");
        }
        wait(&m->full[s], ph);
        float sum = 0;
        for (float x : view{tiles + s * 64, 64}) sum += x;
        __syncthreads();
        o[t * 64 + threadIdx.x] = sum;
    }
}
