// fault: "        __threadfence();  // the sum before its flag\n" => ""
// Rows that all threads store, and a sum behind them in the same array that one thread tells the next block of.
#include <cuda_runtime.h>

constexpr int BLOCKS = 64, ROW = 256;

__global__ void chain(const float* in, float* out, int* ready) {
    const int b = blockIdx.x;
    if (threadIdx.x == 0) {
        if (b > 0)
            while (atomicAdd(&ready[b - 1], 0) == 0) {}
        __threadfence();
    }
    __syncthreads();
    const float before = b > 0 ? __ldcg(&out[BLOCKS * ROW + b - 1]) : 0.f;
    for (int i = threadIdx.x; i < ROW; i += blockDim.x) out[b * ROW + i] = in[b * ROW + i] + before;
    if (threadIdx.x == 0) {
        __stcg(&out[BLOCKS * ROW + b], before + 1.f);
        __threadfence();  // the sum before its flag
        atomicExch(&ready[b], 1);
    }
}

void launch(const float* in, float* out, int* ready) { chain<<<BLOCKS, 128>>>(in, out, ready); }
