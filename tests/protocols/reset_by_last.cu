// fault: "is_last = finished.fetch_add(1, cuda::memory_order_acq_rel)" => "is_last = finished.fetch_add(1, cuda::memory_order_relaxed)"
// fault: "    __syncthreads();  // the sums of the block\n" => ""
// The last block makes its counter nought again, which tells nobody of what it has stored.
#include <cuda/atomic>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads) mean_of_rows(const float* in, float* sums, unsigned* done, float* mean, int n) {
    __shared__ float row[kThreads];
    __shared__ bool is_last;
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&row[t], in + blockIdx.x * kThreads + t, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    sums[blockIdx.x * kThreads + t] = row[kThreads - 1 - t];
    __syncthreads();  // the sums of the block
    if (t == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> finished(*done);
        is_last = finished.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
        if (is_last) {
            float total = 0.f;
            for (unsigned b = 0; b < gridDim.x; ++b) total += sums[b * kThreads + 1];
            *mean = total / n;
            finished.store(0, cuda::memory_order_relaxed);
        }
    }
}

// What all threads store is for the next kernel: the last block reads what the counting thread has stored itself.
__global__ void __launch_bounds__(kThreads) norms_of_rows(const float* in, float* out, float* norms, unsigned* done, float* all) {
    __shared__ float row[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&row[t], in + blockIdx.x * kThreads + t, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    float norm = 0.f;
    for (int i = 0; i < kThreads; ++i) norm += row[i] * row[i];
    out[blockIdx.x * kThreads + t] = row[t] / norm;
    if (t == 0) {
        norms[blockIdx.x] = norm;
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> finished(*done);
        if (finished.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1) {
            float total = 0.f;
            for (unsigned b = 0; b < gridDim.x; ++b) total += norms[b];
            *all = total;
            finished.store(0, cuda::memory_order_relaxed);
        }
    }
}

// Each block reads which launch this is, and counts itself; the last one stores the number of the next launch.
__global__ void __launch_bounds__(kThreads) numbered_rows(const float* in, float* out, unsigned* launch, unsigned* done) {
    __shared__ unsigned number;
    const int t = threadIdx.x;
    bool is_last = false;
    if (t == 0) number = *launch;
    __syncthreads();
    if (t == 0) is_last = atomicAdd(done, 1) + 1 == gridDim.x * (number + 1);
    out[blockIdx.x * kThreads + t] = in[blockIdx.x * kThreads + t] * number;
    if (t == 0 && is_last) *launch = number + 1;
}

void launch(const float* in, float* sums, unsigned* done, float* mean, cudaStream_t stream) {
    mean_of_rows<<<96, kThreads, 0, stream>>>(in, sums, done, mean, 96);
    norms_of_rows<<<96, kThreads, 0, stream>>>(in, sums, sums + 96 * kThreads, done, mean);
    numbered_rows<<<96, kThreads, 0, stream>>>(in, sums, done + 1, done + 2);
}
