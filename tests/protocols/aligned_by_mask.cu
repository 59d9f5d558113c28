// fault: "    asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n" => ""
// fault: "    __syncthreads();\n" => ""
// fault: "        asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\");\n" => ""
// A tile in dynamic shared memory that starts at a multiple of 1024 bytes, stored with the copy engine.
#include <cuda.h>
#include <cstdint>

struct Storage {
    float tile[32][32];
};

static __device__ uint32_t place(const void* pointer) { return static_cast<uint32_t>(__cvta_generic_to_shared(pointer)); }

__global__ void __launch_bounds__(256) scaled(const __grid_constant__ CUtensorMap map, const float* in, float factor) {
    extern __shared__ uint8_t raw[];
    Storage& storage = *reinterpret_cast<Storage*>((reinterpret_cast<uintptr_t>(raw) + 1023) & ~uintptr_t(1023));
    const int column = threadIdx.x % 32, from = threadIdx.x / 32;
    for (int row = from; row < 32; row += 8)
        storage.tile[row][column] = factor * in[(blockIdx.x * 32 + row) * 32 + column];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                     :: "l"(&map), "r"(0), "r"(int(blockIdx.x) * 32), "r"(place(storage.tile)) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}

void launch(const CUtensorMap& map, const float* in, int rows) { scaled<<<rows / 32, 256, sizeof(Storage) + 1024>>>(map, in, 2.0f); }
