// fault: "turns[blockIdx.x] = blockIdx.y + 1;" => "turns[blockIdx.x] = blockIdx.y;"
// fault: "  __syncthreads(); // my turn\n" => ""
// fault: "    __threadfence(); // slice\n" => ""
// The slices of a tile add to it one after the other.
__global__ void __launch_bounds__(64) add_slices(const float* in, float* tile, int width, volatile unsigned* turns) {
  float* own = tile + blockIdx.x * 64;
  const float x = in[blockIdx.y * width + blockIdx.x * 64 + threadIdx.x];
  if (threadIdx.x == 0) {
    while (turns[blockIdx.x] != blockIdx.y) {
    }
    __threadfence();
  }
  __syncthreads(); // my turn
  own[threadIdx.x] = own[threadIdx.x] + x;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence(); // slice
    turns[blockIdx.x] = blockIdx.y + 1;
  }
}
