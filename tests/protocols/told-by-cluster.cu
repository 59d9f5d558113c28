// fault: "release.aligned;\" ::: \"memory\");  // sums" => "relaxed.aligned;\" ::: \"memory\");  // sums"
// fault: "    asm volatile(\"barrier.cluster.arrive.release.aligned;\" ::: \"memory\");  // sums\n    asm volatile(\"barrier.cluster.wait.acquire.aligned;\" ::: \"memory\");  // sums\n" => ""
// Objects are fenced for the first barrier of the cluster alone; a flag is waited for after what the blocks tell each other.
#include <cuda_runtime.h>
#include <cstdint>

__device__ inline uint32_t at(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

__global__ void __cluster_dims__(2) __launch_bounds__(64) sums(const float* in, float* out, unsigned* flag) {
    __shared__ float sum;
    __shared__ uint64_t object;
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&object)));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x == 0) sum = in[blockIdx.x];
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");  // sums
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");  // sums
    if (rank == 0 && threadIdx.x == 0) {
        uint32_t there;
        float other;
        asm("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(there) : "r"(at(&sum)));
        asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(other) : "r"(there) : "memory");
        out[blockIdx.x] = sum + other;
        unsigned seen;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        } while (seen == 0);
        out[blockIdx.x + 1] = out[blockIdx.x];
    }
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

void launch(const float* in, float* out, unsigned* flag) { sums<<<64, 64>>>(in, out, flag); }
