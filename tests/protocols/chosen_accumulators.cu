// fault: "    wait_for_matrices<0>();  // the last product\n" => ""
// fault: "    wait_for_matrices<0>();  // the last sum\n" => ""
// Accumulators that a loop reads by its counter, and whole ones that fractions scale.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kSteps = 4;

struct Tiles {
    alignas(128) __half a[kSteps][64 * 16];
    alignas(128) __half b[kSteps][16 * 8];
    alignas(128) int8_t x[64 * 32];
    alignas(128) int8_t y[32 * 8];
};

__device__ __forceinline__ uint64_t described(const void* tile) {
    const uint64_t at = __cvta_generic_to_shared(tile);
    return ((at & 0x3ffff) >> 4) | (uint64_t(8) << 16) | (uint64_t(16) << 32);
}

__device__ __forceinline__ void fence_matrices() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit_matrices() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait_for_matrices() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

__device__ __forceinline__ void multiply(float (&c)[4], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "l"(a), "l"(b));
}
__device__ __forceinline__ void multiply_integers(int (&c)[4], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %5, 1;"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "l"(a), "l"(b));
}

__global__ void __launch_bounds__(128) products(const __half* a, const __half* b, const int8_t* x, const int8_t* y,
                                                float scale, float* out, int count) {
    __shared__ Tiles tiles;
    const int t = threadIdx.x;
    for (int i = t; i < kSteps * 64 * 16; i += 128) tiles.a[i / 1024][i % 1024] = a[i];
    for (int i = t; i < kSteps * 16 * 8; i += 128) tiles.b[i / 128][i % 128] = b[i];
    for (int i = t; i < 64 * 32; i += 128) tiles.x[i] = x[i];
    for (int i = t; i < 32 * 8; i += 128) tiles.y[i] = y[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();

    float c[4] = {};
    for (int k = 0; k < count; ++k) {
        fence_matrices();
        multiply(c, described(tiles.a[k % kSteps]), described(tiles.b[k % kSteps]));
        commit_matrices();
        wait_for_matrices<1>();
    }
    wait_for_matrices<0>();  // the last product
    for (int i = 0; i < 4; ++i) asm volatile("" : "+f"(c[i])::"memory");
    for (int i = 0; i < 4; ++i) out[t * 4 + i] = c[i];

    int d[4] = {};
    fence_matrices();
    multiply_integers(d, described(tiles.x), described(tiles.y));
    commit_matrices();
    wait_for_matrices<0>();  // the last sum
    *reinterpret_cast<float2*>(out + 512 + t * 4) = make_float2(d[0] * scale, d[1] * scale);
    *reinterpret_cast<float2*>(out + 512 + t * 4 + 2) = make_float2(d[2] * scale, d[3] * scale);
}

void launch(const __half* a, const __half* b, const int8_t* x, const int8_t* y, float* out, cudaStream_t stream) {
    products<<<1, 128, 0, stream>>>(a, b, x, y, 0.5f, out, 64);
}
