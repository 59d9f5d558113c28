// fault: "        while (!landed(&full[n % kStages], n / kStages & 1)) {}\n" => ""
// Before the flags of rows is how many of them are set: who fetches counts, and who sums looks at each flag.
#include <cuda_runtime.h>

constexpr unsigned kReaders = 128, kWide = 512, kStages = 3;

static __device__ unsigned at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
static __device__ void init(unsigned long long* bar, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory");
}
static __device__ void arrive(unsigned long long* bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(bar)) : "memory");
}
static __device__ bool landed(unsigned long long* bar, unsigned parity) {
    unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
    return done;
}

__global__ void __launch_bounds__(kReaders + 32) sums(const float* in, const int* begins, float* out, int rows) {
    __shared__ alignas(128) float part[kStages][kWide];
    __shared__ unsigned long long full[kStages], empty[kStages];
    const unsigned t = threadIdx.x;
    if (t == 0) {
        for (unsigned s = 0; s < kStages; ++s) { init(&full[s], 1); init(&empty[s], kReaders); }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    const int first = blockIdx.x * 4, last = min(first + 4, rows);
    unsigned n = 0;
    if (t >= kReaders) {
      if (t == kReaders)
      for (int i = 0; i < begins[0]; ++i) {
        while (!landed(&empty[n % kStages], ~(n / kStages) & 1)) {}
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&full[n % kStages])), "r"(kWide * 4) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     ::"r"(at(part[n % kStages])), "l"(in + size_t(i) * kWide), "r"(kWide * 4), "r"(at(&full[n % kStages])) : "memory");
        ++n;
      }
      return;
    }
    for (int row = 0; row < rows; ++row) {
      float sum = 0;
      if (begins[1 + row]) {
        while (!landed(&full[n % kStages], n / kStages & 1)) {}
        for (unsigned k = t; k < kWide; k += kReaders) sum += part[n % kStages][k];
        arrive(&empty[n % kStages]);
        ++n;
      }
      out[row * kReaders + t] = sum;
    }
}

void launch(const float* in, const int* begins, float* out) { sums<<<64, kReaders + 32>>>(in, begins, out, 256); }