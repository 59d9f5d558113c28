// fault: "init_semaphore(inputs_finished[i], NUM_CONSUMERS, 0);" => "init_semaphore(inputs_finished[i], NUM_CONSUMERS, 1);"
// fault: "wait(inputs_arrived[ring], get_phasebit<0>(bits, ring));" => "wait(inputs_arrived[ring], get_phasebit<1>(bits, ring));"
// fault: "            update_phasebit<0>(bits, ring);\n" => ""
// fault: "                update_phasebit<1>(bits, ring);\n" => ""
// fault: "tma::expect_bytes(inputs_arrived[ring], sizeof(tile_t));" => "tma::expect_bytes(inputs_arrived[ring], sizeof(tile_t) / 2);"
// fault: "if (laneid() == 0) arrive(inputs_finished[ring]);" => "if (warpid() == 0 && laneid() == 0) arrive(inputs_finished[ring]);"
// fault: "                wait(inputs_finished[ring], get_phasebit<1>(bits, ring));\n" => ""

#include <stdint.h>
#define KITTENS_DEVICE static __device__ __forceinline__

namespace kittens {
struct semaphore {
private:
    uint64_t value;
};
constexpr int WARP_THREADS = 32;
KITTENS_DEVICE int warpid() { return threadIdx.x >> 5; }
KITTENS_DEVICE int laneid() { return threadIdx.x & 0x1f; }

KITTENS_DEVICE void init_semaphore(semaphore& bar, int thread_count, int transaction_count = 0) {
    void const* const ptr = &bar;
    uint32_t bar_ptr = static_cast<uint32_t>(__cvta_generic_to_shared(ptr));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(bar_ptr), "r"(thread_count + transaction_count));
}
KITTENS_DEVICE void arrive(semaphore& sem) {
    uint32_t mbar_ptr = static_cast<uint32_t>(__cvta_generic_to_shared(&sem));
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];\n" : : "r"(mbar_ptr) : "memory");
}
KITTENS_DEVICE void wait(semaphore& sem, int kPhaseBit) {
    void const* const ptr = &sem;
    uint32_t mbar_ptr = static_cast<uint32_t>(__cvta_generic_to_shared(ptr));
    asm volatile(
        "{\n"
        ".reg .pred                P1;\n"
        "LAB_WAIT:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
        "@P1                       bra.uni DONE;\n"
        "bra.uni                   LAB_WAIT;\n"
        "DONE:\n"
        "}\n" ::"r"(mbar_ptr),
        "r"(kPhaseBit));
}
template <int half>
KITTENS_DEVICE bool get_phasebit(uint32_t bitfield, int ring_id) {
    return (bitfield & (1 << (half * 16 + ring_id))) != 0;
}
template <int half>
KITTENS_DEVICE void update_phasebit(uint32_t& bitfield, int ring_id) {
    bitfield ^= (1 << (half * 16 + ring_id));
}
template <int N>
KITTENS_DEVICE int ring_advance(int ring, int distance = 1) {
    return (ring + distance) % N;
}
namespace tma {
KITTENS_DEVICE void expect_bytes(semaphore& bar, uint32_t bytes) {
    if (laneid() == 0) {
        uint32_t bar_ptr = static_cast<uint32_t>(__cvta_generic_to_shared(&bar));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(bar_ptr), "r"(bytes));
    }
}
template <typename T>
KITTENS_DEVICE void load_async(T& dst, const void* src, semaphore& bar) {
    if (laneid() == 0) {
        uint32_t mbar_ptr = static_cast<uint32_t>(__cvta_generic_to_shared(&bar));
        uint32_t dst_ptr = static_cast<uint32_t>(__cvta_generic_to_shared(&dst));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(dst_ptr),
                     "l"(src), "n"(sizeof(T)), "r"(mbar_ptr)
                     : "memory");
    }
}
}  // namespace tma

struct shared_allocator {
    int* ptr;
    __device__ shared_allocator(int* p) : ptr(p) {}
    template <typename A, int N>
    __device__ A* allocate() {
        A* p = reinterpret_cast<A*>(ptr);
        ptr += (sizeof(A) * N) / sizeof(int);
        return p;
    }
};
}  // namespace kittens
using namespace kittens;

constexpr int NUM_CONSUMERS = 4;
constexpr int PIPE = 3;
struct alignas(128) tile_t {
    float data[32 * 16];
};

__global__ __launch_bounds__((NUM_CONSUMERS + 1) * 32) void lcf(const float* in, float* out, int iters) {
    extern __shared__ int __shm[];
    shared_allocator al((int*)&__shm[0]);
    tile_t* tiles = al.allocate<tile_t, PIPE>();
    __shared__ semaphore inputs_arrived[PIPE], inputs_finished[PIPE];
    uint32_t bits = 0xFFFF0000;
    if (warpid() == 0 && laneid() == 0) {
        for (int i = 0; i < PIPE; i++) {
            init_semaphore(inputs_arrived[i], 0, 1);
            init_semaphore(inputs_finished[i], NUM_CONSUMERS, 0);
        }
    }
    __syncthreads();
    int ring = 0;
    if (warpid() == NUM_CONSUMERS) {
        for (int i = 0; i < iters; i++) {
                wait(inputs_finished[ring], get_phasebit<1>(bits, ring));
                update_phasebit<1>(bits, ring);
            tma::expect_bytes(inputs_arrived[ring], sizeof(tile_t));
            tma::load_async(tiles[ring], in + i * 512, inputs_arrived[ring]);
            ring = ring_advance<PIPE>(ring);
        }
    } else {
        float acc = 0.f;
        for (int i = 0; i < iters; i++) {
            wait(inputs_arrived[ring], get_phasebit<0>(bits, ring));
            update_phasebit<0>(bits, ring);
            for (int j = 0; j < 4; j++) acc += tiles[ring].data[threadIdx.x + j * 128];
            __syncwarp();
            if (laneid() == 0) arrive(inputs_finished[ring]);
            ring = ring_advance<PIPE>(ring);
        }
        out[threadIdx.x] = acc;
    }
}
