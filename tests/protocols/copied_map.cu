// fault: "                wait(&full, t & 1);\n" => ""
// fault: "                tell(&full, 1024);\n" => ""
// A tensor map is copied to shared memory as a whole, and changed there.
#include <cuda.h>
__device__ inline unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ inline void tell(unsigned long long* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ inline void wait(unsigned long long* b, int p) { asm volatile("{\n.reg .pred ok;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 ok, [%0], %1;\n@!ok bra again;\n}" ::"r"(at(b)), "r"(p) : "memory"); }
__global__ void __launch_bounds__(32) boxes(const __grid_constant__ CUtensorMap given, CUtensorMap* maps, const float* base, float* out, int n) {
    __shared__ __align__(128) float box[256];
    __shared__ __align__(128) CUtensorMap map;
    __shared__ unsigned long long full;
    CUtensorMap* own = maps + blockIdx.x;
    if (threadIdx.x == 0) {
        map = given;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at(&map)), "l"(base) : "memory");
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(own), "r"(at(&map)) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(own) : "memory");
    float sum = 0;
    for (int t = 0; t < n; ++t) {
        if (threadIdx.x == 0) {
                tell(&full, 1024);
                asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"(at(box)), "l"(own), "r"(t * 256), "r"(at(&full)) : "memory");
        }
                wait(&full, t & 1);
        for (int i = threadIdx.x; i < 256; i += 32) sum += box[i];
        __syncwarp();
    }
    out[blockIdx.x * 32 + threadIdx.x] = sum;
}
