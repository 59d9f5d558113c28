// fault: "        __syncthreads(); // all have written\n" => ""
// fault: "sizeof(Storage::tile[0])" => "sizeof(Storage::tile[0][0])"
// fault: "wait(b, t & 1);" => ""

#include <cstdint>

struct Storage {
    alignas(16) float tile[2][64];
    float turned[64];
    uint64_t bar;
};

__device__ uint32_t smem(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void wait(uint32_t b, uint32_t p) {
    asm volatile("{.reg .pred q; R: mbarrier.try_wait.parity.shared.b64 q, [%0], %1; @!q bra R;}" ::"r"(b), "r"(p)
                 : "memory");
}

__global__ void __launch_bounds__(64) places(const float* g, float* o, int n, bool is_staged) {
    __shared__ Storage m;
    const uint32_t b = smem(&m.bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b));
    __syncthreads();
    const float* from = m.turned;
    for (int t = 0; t < n; ++t) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "n"(sizeof(Storage::tile[0])));
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %3, [%2];" ::"r"(
                             smem(m.tile[0])),
                         "l"(g + t * 64), "r"(b), "n"(sizeof(decltype(Storage::tile)) / 2)
                         : "memory");
        }
        wait(b, t & 1);
        m.turned[threadIdx.x] = m.tile[0][threadIdx.x];
        __syncthreads(); // all have written
        from = is_staged ? m.turned : g + t * 64;
        o[t * 64 + threadIdx.x] = from[63 - threadIdx.x];
        __syncthreads();
    }
}
