// fault: "init(&handed, kThreads);" => "init(&handed, kThreads + 32);"
// fault: "        handed.wait_parity(false);\n" => ""
// Rows are handed on once: all who arrive leave the barrier, and nobody completes another phase.
#include <cuda/barrier>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads) mirrored(const float* in, float* out, int rows) {
    __shared__ float row[kThreads];
    __shared__ float scaled[kThreads];
    __shared__ cuda::barrier<cuda::thread_scope_block> handed;
    const int t = threadIdx.x;
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        if (t == 0) init(&handed, kThreads);
        __pipeline_memcpy_async(&row[t], in + r * kThreads + t, sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        scaled[t] = row[kThreads - 1 - t] * 2.f;
        handed.arrive_and_drop();
        handed.wait_parity(false);
        out[r * kThreads + t] = scaled[t ^ 64];
        __syncthreads();
        if (t == 0) handed.~barrier();
        __syncthreads();
    }
}

void launch(const float* in, float* out, cudaStream_t stream) {
    mirrored<<<64, kThreads, 0, stream>>>(in, out, 1000);
}
