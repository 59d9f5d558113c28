// fault: "    __syncthreads();  // the tile is there\n" => ""
// Constants of the file whose names begin as those of the C library do.
#include <cuda_runtime.h>
#include <cuda_pipeline.h>

constexpr int M_TILE = 32, NAN_SLOTS = 2;
struct Block {
    float x[NAN_SLOTS][M_TILE * 4];
};

__global__ void __launch_bounds__(32 * 4) turned(const float* in, float* out) {
    extern __shared__ __align__(16) unsigned char raw[];
    Block& block = *reinterpret_cast<Block*>(raw);
    __pipeline_memcpy_async(&block.x[1][threadIdx.x], in + threadIdx.x, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // the tile is there
    out[threadIdx.x] = block.x[1][M_TILE * 4 - 1 - threadIdx.x];
}

void launch(const float* in, float* out) { turned<<<1, M_TILE * 4, sizeof(Block)>>>(in, out); }
