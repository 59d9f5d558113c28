// fault: "        asm volatile(\"bar.sync 1, 128;\" ::: \"memory\");  // all have written\n" => ""
// fault: "        asm volatile(\"bar.sync 2, 128;\" ::: \"memory\");  // all have read\n" => ""
// fault: "            if (++stage == 3) { stage = 0; turn ^= 1; }\n        }\n        sums[t] = sum;" => "            if (++stage == 3) { stage = 0; turn ^= 1; }\n        }\n        stage = 0;\n        sums[t] = sum;"
// A list tells how long each row is. The sums of a row's parts are added up by one warp, and stages go on from row to row.
#include <cuda_runtime.h>

static __device__ unsigned at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
static __device__ void init(unsigned long long* bar, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory");
}
static __device__ bool over(unsigned long long* bar, unsigned parity) {
    unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
    return done;
}

__global__ void __launch_bounds__(160) weigh(const float* in, const int* begins, float* out, int rows) {
    __shared__ alignas(128) float part[3][512];
    __shared__ float sums[128];
    __shared__ unsigned long long full[3], empty[3];
    const unsigned t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 3; ++s) { init(&full[s], 1); init(&empty[s], 128); }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    int stage = 0;
    unsigned turn = 0;
    if (t >= 128) {
        if (t > 128) return;
        for (int row = blockIdx.x; row < rows; row += gridDim.x)
            for (int i = begins[row]; i < begins[row + 1]; ++i) {
                while (!over(&empty[stage], turn ^ 1)) {}
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(at(&full[stage])) : "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];"
                             ::"r"(at(part[stage])), "l"(in + size_t(i) * 512), "r"(at(&full[stage])) : "memory");
                if (++stage == 3) { stage = 0; turn ^= 1; }
            }
        return;
    }
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float sum = 0;
        for (int i = begins[row]; i < begins[row + 1]; ++i) {
            while (!over(&full[stage], turn)) {}
            for (unsigned k = t; k < 512; k += 128) sum += part[stage][k];
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&empty[stage])) : "memory");
            if (++stage == 3) { stage = 0; turn ^= 1; }
        }
        sums[t] = sum;
        asm volatile("bar.sync 1, 128;" ::: "memory");  // all have written
        if (t < 32) {
            float all = sums[t] + sums[t + 32] + sums[t + 64] + sums[t + 96];
            for (int by = 16; by > 0; by /= 2) all += __shfl_xor_sync(~0u, all, by);
            if (t == 0) out[row] = all;
        }
        asm volatile("bar.sync 2, 128;" ::: "memory");  // all have read
    }
}

void launch(const float* in, const int* begins, float* out) { weigh<<<64, 160>>>(in, begins, out, 256); }
