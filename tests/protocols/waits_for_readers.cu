// fault: "    asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");   // rows" => "    if (threadIdx.x == 0) asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");   // rows"
// fault: "    asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");   // rows\n    fetch(row, rows + blockIdx.x * 512);" => "    fetch(row, rows + blockIdx.x * 512);\n    asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");   // rows"
// fault: "    asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\");\n" => ""
// What one grid writes may still be read by the one before it, and so it waits though it reads nothing of that.
__device__ inline void fetch(float* to, const float* from) {
    for (int i = threadIdx.x * 4; i < 512; i += blockDim.x * 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to + i)), "l"(from + i) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
}
__global__ void makes(const float* __restrict__ scale, float* rows) {
    const float own = scale[threadIdx.x];
    asm volatile("griddepcontrol.wait;" ::: "memory");
    for (int i = threadIdx.x; i < 512; i += blockDim.x) rows[blockIdx.x * 512 + i] = own * i;
}
__global__ void sums(const float* rows, const float* __restrict__ weights, float* out) {
    __shared__ float weight[512], row[512];
    fetch(weight, weights);
    asm volatile("griddepcontrol.wait;" ::: "memory");   // rows
    fetch(row, rows + blockIdx.x * 512);
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < 512; i += blockDim.x) sum += row[511 - i] * weight[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
