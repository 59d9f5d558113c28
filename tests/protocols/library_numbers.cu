// fault: "cuda::std::gcd(128, 192)" => "cuda::std::gcd(32, 96)"
// fault: "wait(f + i, ph);" => ""
// fault: "cuda::std::distance(cuda::std::begin(s[i]), cuda::std::end(s[i]))" => "32"
// fault: "cuda::std::modulus<int>{}(t + 3, stages)" => "cuda::std::modulus<int>{}(t + 3, 2)"

#include <cstdint>
#include <cuda/std/functional>
#include <cuda/std/iterator>
#include <cuda/std/numeric>
#include <cuda/std/utility>
#include <type_traits>

__device__ uint32_t smem(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void wait(uint64_t* b, uint32_t p) {
    asm volatile("{.reg .pred q; R: mbarrier.try_wait.parity.shared.b64 q, [%0], %1; @!q bra R;}" ::"r"(smem(b)), "r"(p)
                 : "memory");
}
__device__ void init(uint64_t* b, uint32_t n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem(b)), "r"(n)); }
__device__ void load(float* d, const float* g, uint64_t* b, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(smem(b)), "r"(bytes));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(smem(d)),
                 "l"(g), "r"(smem(b))
                 : "memory");
}

__global__ void __launch_bounds__(96) numbers(const float* g, float* o, int n) {
    __shared__ alignas(16) float s[3][64];
    constexpr int stages = std::extent_v<decltype(s)>;
    __shared__ uint64_t f[stages], e[stages];
    if (threadIdx.x == 0) {
        for (int i = 0; i < stages; ++i) {
            init(f + i, std::rank_v<decltype(s)> - 1);
            init(e + i, cuda::std::gcd(128, 192));
        }
    }
    __syncthreads();
    if (threadIdx.x == 64) {
        for (int t = 0; cuda::std::cmp_less(t, n); ++t) {
            int i = cuda::std::modulus<int>{}(t + 3, stages);
            uint32_t ph = (t / stages) & 1;
            wait(e + i, ph ^ 1);
            load(s[i], g + t * 64, f + i, cuda::std::distance(cuda::std::begin(s[i]), cuda::std::end(s[i])) * 4);
        }
    } else if (threadIdx.x < 64) {
        for (int t = 0; t < n; ++t) {
            int i = t % stages;
            uint32_t ph = (t / stages) & 1;
            wait(f + i, ph);
            o[t * 64 + threadIdx.x] = s[i][threadIdx.x];
            asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(smem(e + i)) : "memory");
        }
    }
}
