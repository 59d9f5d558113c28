// fault: "init(at(&full[s]), 1)" => "init(at(&full[s]), 2)"
// fault: "        while (!landed(at(&full[n & 1]), n >> 1 & 1)) {}\n" => ""
// fault: "\"r\"(kBytes), \"r\"(bar) : \"memory\");\n}" => "\"r\"(kBytes / 2), \"r\"(bar) : \"memory\");\n}"
// A macro stands for the keyword of asm statements.
#include <cuda_runtime.h>
#include <cstdint>
#define PTX asm volatile
constexpr int kBytes = 2048, kThreads = 128;

__device__ uint32_t at(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void init(uint32_t bar, uint32_t n) {
    PTX("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(n) : "memory");
}
__device__ bool landed(uint32_t bar, uint32_t parity) {
    uint32_t done;
    PTX("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    return done;
}
__device__ void fetch(uint32_t to, const float* from, uint32_t bar) {
    PTX("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(kBytes) : "memory");
    PTX("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        ::"r"(to), "l"(from), "r"(kBytes), "r"(bar) : "memory");
}

__global__ void __launch_bounds__(kThreads) add_rows(const float* in, float* out, int rows) {
    __shared__ alignas(128) float row[2][kBytes / 4];
    __shared__ uint64_t full[2];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 2; ++s) init(at(&full[s]), 1);
        PTX("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (t == 0) fetch(at(row[0]), in, at(&full[0]));
    float sum = 0;
    for (int n = 0; n < rows; ++n) {
        if (t == 0 && n + 1 < rows) fetch(at(row[~n & 1]), in + (n + 1) * (kBytes / 4), at(&full[~n & 1]));
        while (!landed(at(&full[n & 1]), n >> 1 & 1)) {}
        for (int i = t; i < kBytes / 4; i += kThreads) sum += row[n & 1][i];
        __syncthreads();
    }
    out[t] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 64 * kBytes);
    cudaMalloc(&out, 4 * kThreads);
    add_rows<<<1, kThreads>>>(in, out, 64);
    return cudaDeviceSynchronize();
}
