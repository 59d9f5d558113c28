// fault: "arrive(&e);" => ""
// fault: "arrive(&f);" => ""
// fault: "wait(&f, i & 1);" => ""

#include <cstdint>

__device__ uint32_t smem(void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void arrive(uint64_t* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(smem(b)) : "memory"); }
__device__ void wait(uint64_t* b, uint32_t p) {
    asm volatile("{.reg .pred q; R: mbarrier.try_wait.parity.shared.b64 q, [%0], %1; @!q bra R;}" ::"r"(smem(b)), "r"(p)
                 : "memory");
}

__global__ void __launch_bounds__(64) rows(const int* in, int* out, int n) {
    __shared__ uint64_t f, e;
    __shared__ int v[32];
    if (threadIdx.x + threadIdx.y == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 32;\nmbarrier.init.shared.b64 [%1], 32;" ::"r"(smem(&f)),
                     "r"(smem(&e)));
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int i = 0; i < n; ++i) {
            wait(&e, (i & 1) ^ 1);
            v[threadIdx.x] = in[i * 32 + threadIdx.x];
            arrive(&f);
        }
    } else {
        for (int i = 0; i < n; ++i) {
            wait(&f, i & 1);
            out[i * 32 + threadIdx.x] = v[31 - threadIdx.x];
            arrive(&e);
        }
    }
}

void launch(const int* in, int* out) { rows<<<1, dim3(32, 2)>>>(in, out, 10); }
