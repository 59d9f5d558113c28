// fault: "c.phase ^= 1;" => ""
// fault: "auto guard = door.enter();" => ""

#include <cstdint>

union State {
    struct {
        uint32_t phase : 1, slot : 2, : 29;
    };
    uint32_t word;
};

struct Door {
    int id;
    struct Guard {
        const Door& door;
        __device__ explicit Guard(const Door& d) : door{d} { door.sync(); }
        __device__ ~Guard() { door.sync(); }
    };
    __device__ void sync() const { asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory"); }
    [[nodiscard]] __device__ Guard enter() const { return Guard(*this); }
};

__device__ uint32_t smem(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

__global__ void __launch_bounds__(128) states(const char* in, char* out, int n) {
    __shared__ alignas(16) char buf[1024];
    __shared__ char turned[128];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(smem(&bar)));
    __syncthreads();
    State c{};
    Door door{1};
    for (int i = 0; i < n; ++i) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(smem(&bar)));
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(
                    smem(buf)),
                "l"(in + i * 1024), "r"(smem(&bar))
                : "memory");
        }
        asm volatile(
            "{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" ::"r"(smem(&bar)),
            "r"(c.word & 1u)
            : "memory");
        c.phase ^= 1;
        turned[threadIdx.x] = buf[threadIdx.x * 8];
        __syncthreads(); // all have read
        {
            auto guard = door.enter();
            out[i * 128 + threadIdx.x] = turned[127 - threadIdx.x];
        }
    }
}
