// fault: "        __syncthreads();   // parts\n" => ""
// Memory decides about further rounds; what is wrong in the first one does not depend on it.
__global__ void __launch_bounds__(128) rounds(const float* in, float* out, const int* more, int n) {
    __shared__ float parts[4];
    __shared__ __align__(16) int next[4];
    __shared__ unsigned long long done;
    const unsigned d = (unsigned)__cvta_generic_to_shared(&done);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(d) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    int phase = 0, at = blockIdx.x;
    for (bool again = true; again;) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" ::"r"(d) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"((unsigned)__cvta_generic_to_shared(next)), "l"(more + at * 4), "r"(d) : "memory");
        }
        float sum = 0;
        for (int i = threadIdx.x; i < n; i += 128) sum += in[at * n + i];
        for (int m = 16; m; m >>= 1) sum += __shfl_xor_sync(~0u, sum, m);
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
        __syncthreads();   // parts
        if (threadIdx.x == 0) {
            for (int w = 1; w < 4; ++w) sum += parts[w];
            out[at] = sum;
        }
        asm volatile("{\n.reg .pred ok;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 ok, [%0], %1;\n@!ok bra again;\n}" ::"r"(d), "r"(phase) : "memory");
        phase ^= 1;
        at = next[0];
        again = at >= 0;
        __syncthreads();
    }
}
