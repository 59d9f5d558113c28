// fault: "        while (!landed(&full[n & 1], n >> 1 & 1)) {}\n" => ""
// fault: "init(&empty[s], kReaders)" => "init(&empty[s], kReaders + 32)"
// Rows that a list tells to be quiet are skipped by those who fetch and by those who read.
#include <cuda_runtime.h>

constexpr int kReaders = 128, kWide = 512;

static __device__ unsigned at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
static __device__ void init(unsigned long long* bar, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory");
}
static __device__ bool landed(unsigned long long* bar, unsigned parity) {
    unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
    return done;
}

__global__ void __launch_bounds__(kReaders + 32) louder(const float* in, const unsigned* level, float* out, int rows, unsigned quiet) {
    __shared__ alignas(128) float row[2][kWide];
    __shared__ unsigned long long full[2], empty[2];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], kReaders); }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    const unsigned* own = level + blockIdx.x * rows;
    unsigned n = 0;
    if (t >= kReaders) {
        for (int r = 0; r < rows; ++r) {
            if (own[r] < quiet) continue;
            if (t == kReaders) {
                while (!landed(&empty[n & 1], (n >> 1 & 1) ^ 1)) {}
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&full[n & 1])), "r"(kWide * 4) : "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                             ::"r"(at(row[n & 1])), "l"(in + (blockIdx.x * rows + r) * kWide), "r"(kWide * 4), "r"(at(&full[n & 1])) : "memory");
            }
            ++n;
        }
        return;
    }
    for (int r = 0; r < rows; ++r) {
        if (own[r] < quiet) continue;
        while (!landed(&full[n & 1], n >> 1 & 1)) {}
        float sum = 0;
        for (int i = t; i < kWide; i += kReaders) sum += row[n & 1][i];
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&empty[n & 1])) : "memory");
        out[(blockIdx.x * rows + r) * kReaders + t] = sum;
        ++n;
    }
}

void launch(const float* in, const unsigned* level, float* out) { louder<<<64, kReaders + 32>>>(in, level, out, 96, 64u); }
