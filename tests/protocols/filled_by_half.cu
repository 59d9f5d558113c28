// fault: "waited(&free_of[s], (n / 2 - 1) & 1)" => "waited(&free_of[s], (n / 2) & 1)"
// fault: "            told(&free_of[s]);\n" => ""
// fault: "    waited(&ended, 0);\n" => ""
// Columns of a tile are written by one half of the warps, and those of the other buffer, which follow, by the other half first: what an
// operation reads of one ends where the other begins.
#include <cuda_bf16.h>
#include <cstdint>

constexpr int kRows = 128, kDeep = 64, kThreads = 128;
constexpr uint32_t kShape = 1u << 4 | 1u << 7 | 1u << 10 | kRows / 8 << 17 | kRows / 16 << 24;

__device__ uint32_t at(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void made(uint64_t* b) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(b)) : "memory"); }
__device__ void waited(uint64_t* b, uint32_t parity) {
    asm volatile("{\n.reg .pred p;\nL: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra L;\n}" ::"r"(at(b)), "r"(parity) : "memory");
}
__device__ void told(uint64_t* b) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(at(b)) : "memory");
}
__device__ uint64_t layout(uint32_t place) { return uint64_t((place & 0x3ffff) >> 4) | uint64_t(kRows) << 16 | uint64_t(8) << 32 | 1ull << 46; }
__device__ void multiplied(uint32_t to, uint64_t tile, uint32_t adds) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %3, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %1, %2, p;\n}" ::"r"(to), "l"(tile), "r"(kShape), "r"(adds) : "memory");
}

__global__ void __launch_bounds__(kThreads) squares(const float* in, float* out, int rounds) {
    __shared__ alignas(128) __nv_bfloat16 tile[2][kRows * kDeep];
    __shared__ uint64_t free_of[2], ended;
    __shared__ uint32_t where;
    const int t = threadIdx.x, warp = t / 32;
    if (warp == 0) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(at(&where)) : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    if (t == 0) {
        made(&free_of[0]);
        made(&free_of[1]);
        made(&ended);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    const uint32_t sum = where;
    for (int n = 0; n < rounds; ++n) {
        const int s = n & 1;
        if (n > 1) waited(&free_of[s], (n / 2 - 1) & 1);
        for (int i = t; i < kRows * kDeep; i += kThreads) {
            const int row = i / kDeep, k = i % kDeep;
            tile[s][k / 8 * kRows * 8 + row * 8 + k % 8] = __float2bfloat16(in[n * kRows * kDeep + i]);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            for (int k = 0; k < kDeep / 16; ++k) multiplied(sum, layout(at(tile[s]) + k * kRows * 32), n + k);
            told(&free_of[s]);
            if (n == rounds - 1) told(&ended);
        }
    }
    waited(&ended, 0);
    __syncwarp();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    for (int c = 0; c < kRows; ++c) {
        float v;
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=f"(v) : "r"(sum + (warp * 32 << 16) + c));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        out[t * kRows + c] = v;
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(sum));
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 4 * 16 * kRows * kDeep);
    cudaMalloc(&out, 4 * kRows * kRows);
    squares<<<1, kThreads>>>(in, out, 16);
    return cudaDeviceSynchronize();
}
