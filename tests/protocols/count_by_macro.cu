// fault: "ARRIVALS 4 /" => "ARRIVALS 8 /"
// fault: "BYTES (ROWS * 64 * 4)" => "BYTES (ROWS * 32 * 4)"
// The numbers of arrivals and of bytes have the names of macros.
#include <cstdint>

#define ROWS 8
#define BYTES (ROWS * 64 * 4)
#define ARRIVALS 4 /* one for each warp that reads */

__device__ uint32_t at(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void make(uint64_t* object, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(object)), "r"(count) : "memory");
}
__device__ void expect(uint64_t* object, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at(object)), "r"(bytes) : "memory");
}
__device__ void arrive(uint64_t* object) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at(object)) : "memory");
}
__device__ void wait(uint64_t* object, int parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }"
                 :: "r"(at(object)), "r"(parity) : "memory");
}

__global__ void __launch_bounds__(160) handed(const float* in, float* out, int rounds) {
    __shared__ alignas(128) float tile[2][ROWS][64];
    __shared__ uint64_t full[2], empty[2];
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++) {
            make(&full[i], 1);
            make(&empty[i], ARRIVALS);
        }
    __syncthreads();
    if (threadIdx.x >= 128) {
        if (threadIdx.x == 128)
            for (int i = 0; i < rounds; i++) {
                wait(&empty[i & 1], (i >> 1 & 1) ^ 1);
                expect(&full[i & 1], BYTES);
                asm volatile(
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                    :: "r"(at(tile[i & 1])), "l"(in + i * ROWS * 64), "r"(ROWS * 64 * 4), "r"(at(&full[i & 1])) : "memory");
            }
        return;
    }
    float sum = 0;
    for (int i = 0; i < rounds; i++) {
        wait(&full[i & 1], i >> 1 & 1);
        for (int row = threadIdx.x / 64; row < ROWS; row += 2) sum += tile[i & 1][row][threadIdx.x % 64];
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive(&empty[i & 1]);
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}
