// fault: "empty_barriers[i]->init(kNumMathThreads / 32);" => "empty_barriers[i]->init(kNumMathThreads);"
// fault: "full_barriers[i]->init(1);" => "full_barriers[i]->init(kNumTMAThreads);"
// fault: "empty_barriers[s]->wait(((scheduler_iter * k_iters + k) / kNumStages + 1) & 1);" => "empty_barriers[s]->wait(((scheduler_iter * k_iters + k) / kNumStages) & 1);"
// fault: "full.arrive_and_expect_tx(SMEM_A + SMEM_B);" => "full.arrive_and_expect_tx(SMEM_A);"
// fault: "full_barriers[s]->wait((iter_idx / kNumStages) & 1);" => "full_barriers[s]->wait(iter_idx & 1);"
// fault: "                if (lane_idx == 0) empty_barriers[s]->arrive();\n" => ""
// fault: "    __syncthreads();\n" => ""
// fault: "asm volatile(\"setmaxnreg.dec.sync.aligned.u32 40;\");" => ""
// fault: "                tma_copy(full, smem_b[s], gmem_b + tile * kElems, SMEM_B);\n" => ""

#include <cstdint>

constexpr int kNumStages = 5;
constexpr uint32_t kNumTMAThreads = 128;
constexpr uint32_t kNumMathThreads = 256;
constexpr uint32_t SMEM_A = 4096;
constexpr uint32_t SMEM_B = 2048;
constexpr uint32_t kElems = 512;

class Barrier {
    uint64_t value;

public:
    __device__ uint32_t addr() { return static_cast<uint32_t>(__cvta_generic_to_shared(this)); }
    __device__ void init(uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(addr()), "r"(n)); }
    __device__ void wait(uint32_t phase) {
        uint32_t done = 0;
        do {
            asm volatile(
                "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                : "=r"(done)
                : "r"(addr()), "r"(phase)
                : "memory");
        } while (not done);
    }
    __device__ void arrive() { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(addr()) : "memory"); }
    __device__ void arrive_and_expect_tx(uint32_t bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(addr()), "r"(bytes) : "memory");
    }
};

__device__ __forceinline__ uint32_t get_lane_id() {
    uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

__device__ __forceinline__ void tma_copy(Barrier& bar, void* dst, const void* src, uint32_t bytes) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     static_cast<uint32_t>(__cvta_generic_to_shared(dst))),
                 "l"(src), "r"(bytes), "r"(bar.addr())
                 : "memory");
}

__global__ void __launch_bounds__(kNumTMAThreads + kNumMathThreads, 1)
fp8_gemm_like(const uint8_t* gmem_a, const uint8_t* gmem_b, uint32_t* out, uint32_t num_blocks, uint32_t k_iters) {
    extern __shared__ __align__(1024) uint8_t smem_buffer[];
    uint8_t* smem_a[kNumStages];
    uint8_t* smem_b[kNumStages];
    Barrier* full_barriers[kNumStages];
    Barrier* empty_barriers[kNumStages];

#pragma unroll
    for (uint32_t i = 0; i < kNumStages; ++i) {
        smem_a[i] = smem_buffer + i * SMEM_A;
        smem_b[i] = smem_buffer + kNumStages * SMEM_A + i * SMEM_B;
    }
    auto barrier_start_ptr = reinterpret_cast<Barrier*>(smem_buffer + kNumStages * (SMEM_A + SMEM_B));
#pragma unroll
    for (uint32_t i = 0; i < kNumStages; ++i) {
        full_barriers[i] = barrier_start_ptr + i;
        empty_barriers[i] = barrier_start_ptr + kNumStages + i;
    }

    if (threadIdx.x == kNumMathThreads) {
#pragma unroll
        for (uint32_t i = 0; i < kNumStages; ++i) {
            full_barriers[i]->init(1);
            empty_barriers[i]->init(kNumMathThreads / 32);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::);
    }
    __syncthreads();

    if (threadIdx.x >= kNumMathThreads) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == kNumMathThreads) {
            uint32_t scheduler_iter = 0;
            for (uint32_t block = blockIdx.x; block < num_blocks; block += gridDim.x, ++scheduler_iter) {
                for (uint32_t k = 0; k < k_iters; ++k) {
                    uint32_t s = (scheduler_iter * k_iters + k) % kNumStages;
                    empty_barriers[s]->wait(((scheduler_iter * k_iters + k) / kNumStages + 1) & 1);
                    auto& full = *full_barriers[s];
                    uint32_t tile = block * k_iters + k;
                    tma_copy(full, smem_a[s], gmem_a + tile * kElems, SMEM_A);
                tma_copy(full, smem_b[s], gmem_b + tile * kElems, SMEM_B);
                    full.arrive_and_expect_tx(SMEM_A + SMEM_B);
                }
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        uint32_t lane_idx = get_lane_id();
        uint32_t iter_idx = 0;
        for (uint32_t block = blockIdx.x; block < num_blocks; block += gridDim.x) {
            uint32_t sum = 0;
            for (uint32_t k = 0; k < k_iters; ++k, ++iter_idx) {
                uint32_t s = iter_idx % kNumStages;
                full_barriers[s]->wait((iter_idx / kNumStages) & 1);
                sum += reinterpret_cast<uint32_t*>(smem_a[s])[threadIdx.x] + reinterpret_cast<uint32_t*>(smem_b[s])[threadIdx.x];
                __syncwarp();
                if (lane_idx == 0) empty_barriers[s]->arrive();
            }
            out[block * kNumMathThreads + threadIdx.x] = sum;
        }
    }
}
