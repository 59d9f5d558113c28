// fault: "wait(at->bar, parity);" => "wait(at->bar, 0u);"
// fault: "arrive(empty);" => ""
// fault: "wait(full, t & 1);" => "wait(full, 0u);"

#include <cstdint>

struct alignas(16) Node {
    float data[32];
    uint64_t bar;
    Node* next;
};

struct Machine {
    int turn = 0;
    float* bufs[2];
    float sum = 0;
    __device__ void put() { bufs[(turn + 1) & 1][threadIdx.x] = sum; }
    __device__ void step(const Node* node) {
        sum += node->data[threadIdx.x];
        ++turn;
    }
};

__device__ uint32_t smem(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void init(uint64_t& b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem(&b)), "r"(n)); }
__device__ void arrive(uint64_t& b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(smem(&b)) : "memory"); }
__device__ void wait(uint64_t& b, uint32_t parity) {
    asm volatile("{.reg .pred p; X: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra X;}" ::"r"(smem(&b)),
                 "r"(parity)
                 : "memory");
}

__global__ void __launch_bounds__(64) nodes(const float* g, float* o, int n) {
    __shared__ Node ring[2];
    __shared__ uint64_t full, empty;
    __shared__ float first[32], second[32];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; ++i) {
            Node* at = ring + i;
            at->next = &ring[(i + 1) % 2];
            init(at->bar, 1);
        }
        init(full, 32);
        init(empty, 32);
    }
    __syncthreads();
    float* bufs[2] = {first, second};
    if (threadIdx.x < 32) {
        Machine m{.bufs = {first, second}};
        void (Machine::*const steps[2])(const Node*) = {&Machine::step, &Machine::step};
        Node* at = ring;
        uint32_t parity = 0;
        for (int t = 0; t < n; ++t) {
            if (threadIdx.x == 0) {
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(smem(&at->bar)));
                asm volatile(
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(
                        smem(at->data)),
                    "l"(g + t * 32), "r"(smem(&at->bar))
                    : "memory");
            }
            wait(at->bar, parity);
            (m.*steps[0])(at);
            if (t > 0) wait(empty, (t - 1) & 1);
            m.put();
            arrive(full);
            __syncwarp();
            parity ^= t & 1;
            at = at->next;
        }
    } else {
        for (int t = 0; t < n; ++t) {
            wait(full, t & 1);
            o[t * 32 + threadIdx.x - 32] = bufs[t & 1][63 - threadIdx.x];
            arrive(empty);
        }
    }
}
