// fault: "counted = atomicAdd(all, 1)" => "counted = atomicAdd_block(all, 1)"
// fault: "    __threadfence(); // for all blocks\n" => ""
// fault: "atomicInc(&turn[blockIdx.x], gridDim.y - 1)" => "atomicInc_block(&turn[blockIdx.x], gridDim.y - 1)"
// fault: "atomicAdd(&done[row], 1)" => "atomicAdd_block(&done[row], 1)"
// fault: "    __threadfence();\n    __syncthreads(); // stored\n" => "    __syncthreads();\n"
// fault: "    __syncthreads(); // stored\n" => ""
// The last of several blocks adds what all have stored; how many there are the host says.
__global__ void __launch_bounds__(128) summed(const float* in, float* parts, float* out, int* done, int splits, int length) {
    __shared__ bool is_last;
    const int row = blockIdx.y, split = blockIdx.x, column = threadIdx.x;
    float sum = 0;
    for (int at = split; at < length; at += splits) sum += in[(row * length + at) * 128 + column];
    parts[(row * splits + split) * 128 + column] = sum;
    __threadfence();
    __syncthreads(); // stored
    if (threadIdx.x == 0) is_last = atomicAdd(&done[row], 1) == splits - 1;
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    sum = 0;
    for (int other = 0; other < splits; ++other) sum += parts[(row * splits + other) * 128 + column];
    out[row * 128 + column] = sum;
}
// The same with rows of blocks.
__global__ void __launch_bounds__(128) folded(const float* in, float* parts, float* out, unsigned* turn) {
    __shared__ unsigned last;
    const unsigned place = blockIdx.y * gridDim.x * 128 + blockIdx.x * 128 + threadIdx.x;
    parts[place] = 2 * in[place];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&turn[blockIdx.x], gridDim.y - 1) == gridDim.y - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    float sum = 0;
    for (unsigned row = 0; row < gridDim.y; ++row)
        sum += parts[row * gridDim.x * 128 + blockIdx.x * 128 + threadIdx.x];
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}
// The number goes to the other threads before it is compared.
__global__ void __launch_bounds__(128) joined(const float* in, float* parts, float* out, int* all) {
    __shared__ int counted;
    parts[blockIdx.x * 128 + threadIdx.x] = 3 * in[blockIdx.x * 128 + threadIdx.x];
    __threadfence(); // for all blocks
    __syncthreads();
    if (threadIdx.x == 0) counted = atomicAdd(all, 1);
    __syncthreads();
    if (counted != gridDim.x - 1) return;
    __threadfence();
    float sum = 0;
    for (int block = 0; block < gridDim.x; ++block) sum += parts[block * 128 + threadIdx.x];
    out[threadIdx.x] = sum;
}
void launch(const float* in, float* parts, float* out, int* done, unsigned* turn) {
    summed<<<dim3(8, 64), 128>>>(in, parts, out, done, 8, 1000);
    joined<<<64, 128>>>(in, parts, out, done);
    folded<<<dim3(64, 8), 128>>>(in, parts, out, turn);
}
