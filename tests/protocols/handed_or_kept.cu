// fault: "        __syncthreads();  // the strip is stored\n        if (t == 0 && !is_last) raise(ready + b, s + 1);" => "        if (t == 0 && !is_last) raise(ready + b, s + 1);\n        __syncthreads();  // the strip is stored"
// fault: "st.release.gpu.global.u32 [%0], %1;" => "st.relaxed.gpu.global.u32 [%0], %1;"
// fault: "while (asked(ready + b - 1) < s + 1) {}" => "(void)asked(ready + b - 1);"
// Blocks in a row: each hands its strips to the next one, and the last one keeps them as the result.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kWide = 128;

__device__ __forceinline__ void raise(unsigned* flag, unsigned number) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(number) : "memory");
}

__device__ __forceinline__ unsigned asked(const unsigned* flag) {
    unsigned number;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(number) : "l"(flag) : "memory");
    return number;
}

__global__ void __launch_bounds__(kWide) row(const float* in, float* handed, float* out, unsigned* ready, unsigned strips) {
    __shared__ float own[kWide];
    const int t = threadIdx.x, b = blockIdx.x;
    const bool is_first = b == 0, is_last = b == gridDim.x - 1;
    __pipeline_memcpy_async(&own[t], in + b * kWide + t, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (unsigned s = 0; s < strips; ++s) {
        if (t == 0 && !is_first)
            while (asked(ready + b - 1) < s + 1) {}
        __syncthreads();
        float v = own[kWide - 1 - t];
        if (!is_first) v += __ldcg(handed + ((b - 1) * strips + s) * kWide + t);
        float* to = is_last ? out + s * kWide : handed + (b * strips + s) * kWide;
        to[t] = v;
        __syncthreads();  // the strip is stored
        if (t == 0 && !is_last) raise(ready + b, s + 1);
    }
}

void launch(const float* in, float* handed, float* out, unsigned* ready) {
    row<<<8, kWide>>>(in, handed, out, ready, 64);
}
