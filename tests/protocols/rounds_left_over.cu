// fault: "    for (; i < n; ++i) {\n        asm volatile(\"cp.async.wait_group 1;\" ::: \"memory\");" => "    for (; i < n; ++i) {\n        asm volatile(\"cp.async.wait_group 2;\" ::: \"memory\");"
// fault: "        asm volatile(\"cp.async.wait_group 1;\" ::: \"memory\");\n        __syncthreads();   // left over" => "        asm volatile(\"cp.async.wait_group 1;\" ::: \"memory\");\n        // left over"
// A loop with four rounds in each turn, and one for the rounds that are left.
__device__ inline void bring(float* stage, const float* from, bool more) {
    if (more) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(stage + threadIdx.x)), "l"(from + threadIdx.x) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
}
__global__ void __launch_bounds__(128) turns(const float* in, float* out, int n) {
    __shared__ float ring[3][128];
    float sum = 0;
    bring(ring[0], in, 0 < n);
    bring(ring[1], in + 128, 1 < n);
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; ++k) {
            asm volatile("cp.async.wait_group 1;" ::: "memory");
            __syncthreads();
            bring(ring[(i + k + 2) % 3], in + (i + k + 2) * 128, i + k + 2 < n);
            sum += ring[(i + k) % 3][127 - threadIdx.x];
        }
    }
    for (; i < n; ++i) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();   // left over
        bring(ring[(i + 2) % 3], in + (i + 2) * 128, i + 2 < n);
        sum += ring[i % 3][127 - threadIdx.x];
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}
