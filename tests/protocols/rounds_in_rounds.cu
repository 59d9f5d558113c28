// fault: "expect(&full[slot], 512);" => "expect(&full[slot], 256);"
// fault: "phase ^= slot == 0;   // turns" => "phase ^= slot == 1;   // turns"
// Rounds in rounds, which are many however small the numbers are.
__device__ inline unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ inline void expect(unsigned long long* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ inline void arrive(unsigned long long* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
__device__ inline void wait(unsigned long long* b, int p) { asm volatile("{\n.reg .pred ok;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 ok, [%0], %1;\n@!ok bra again;\n}" ::"r"(at(b)), "r"(p) : "memory"); }
__global__ void __launch_bounds__(288) tiles(const float* in, float* out, int rows, int columns, int depth) {
    __shared__ __align__(16) float box[2][128];
    __shared__ unsigned long long full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; ++i) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[i])) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 256;" ::"r"(at(&empty[i])) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    int slot = 0, phase = 0;
    float sum = 0;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            for (int d = 0; d < depth; ++d) {
                if (threadIdx.x >= 256) {
                    if (threadIdx.x == 256) {
                        wait(&empty[slot], phase ^ 1);
                        expect(&full[slot], 512);
                        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(at(box[slot])), "l"(in + (r * 64 + c * 8 + d) * 128), "r"(at(&full[slot])) : "memory");
                    }
                } else {
                    wait(&full[slot], phase);
                    sum += box[slot][threadIdx.x % 128];
                    arrive(&empty[slot]);
                }
                slot ^= 1;
                phase ^= slot == 0;   // turns
            }
    if (threadIdx.x < 256) out[blockIdx.x * 256 + threadIdx.x] = sum;
}
