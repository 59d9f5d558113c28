// fault: "full[i].init(1)" => "full[i].init(2)"
// fault: "empty[i].init(NumConsumers * 32)" => "empty[i].init(NumConsumers)"
// fault: "cutlass_like::fence_barrier_init();\n    }\n    __syncthreads();" => "cutlass_like::fence_barrier_init();\n    }"
// fault: "PipelineState<kStages> write = make_producer_start<kStages>();" => "PipelineState<kStages> write;"
// fault: "            pipe.empty[read.index()].arrive();\n" => ""
// fault: "            pipe.full[read.index()].wait(read.phase());\n" => ""
// fault: "            pipe.empty[write.index()].wait(write.phase());\n" => ""
// fault: "            ++read;\n" => "            if (read.index() == 7) ++read;\n"
// fault: "phase_ ^= 1;" => "phase_ ^= 0;"

#include <cuda_runtime.h>
#include <cstdint>

namespace cutlass_like {

__device__ __forceinline__ uint32_t cast_smem_ptr_to_uint(void const* ptr) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(ptr));
}

__device__ __forceinline__ void fence_barrier_init() {
    asm volatile("{\n\t"
                 "fence.mbarrier_init.release.cluster; \n"
                 "}" ::);
}

struct ClusterBarrier {
    using ValueType = uint64_t;

protected:
    ValueType barrier_;

public:
    __device__ ClusterBarrier() = delete;

    __device__ void init(uint32_t arrive_count) const { ClusterBarrier::init(&this->barrier_, arrive_count); }
    __device__ bool try_wait(uint32_t phase) const { return ClusterBarrier::try_wait(&this->barrier_, phase); }
    __device__ void wait(uint32_t phase) const { ClusterBarrier::wait(&this->barrier_, phase); }
    __device__ void arrive() const { ClusterBarrier::arrive(&this->barrier_); }

    __device__ static void init(ValueType const* smem_ptr, uint32_t arrive_count) {
        uint32_t smem_addr = cast_smem_ptr_to_uint(smem_ptr);
        asm volatile(
            "{\n\t"
            "mbarrier.init.shared::cta.b64 [%1], %0; \n"
            "}"
            :
            : "r"(arrive_count), "r"(smem_addr));
    }

    __device__ static void wait(ValueType const* smem_ptr, uint32_t phase) {
        uint32_t smem_addr = cast_smem_ptr_to_uint(smem_ptr);
        uint32_t ticks = 0x989680;
        asm volatile(
            "{\n\t"
            ".reg .pred       P1; \n\t"
            "LAB_WAIT: \n\t"
            "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1, %2; \n\t"
            "@P1 bra DONE; \n\t"
            "bra     LAB_WAIT; \n\t"
            "DONE: \n\t"
            "}"
            :
            : "r"(smem_addr), "r"(phase), "r"(ticks));
    }

    __device__ static bool try_wait(ValueType const* smem_ptr, uint32_t phase) {
        uint32_t smem_addr = cast_smem_ptr_to_uint(smem_ptr);
        uint32_t waitComplete;
        asm volatile(
            "{\n\t"
            ".reg .pred P1; \n\t"
            "mbarrier.try_wait.parity.shared::cta.b64 P1, [%1], %2; \n\t"
            "selp.b32 %0, 1, 0, P1; \n\t"
            "}"
            : "=r"(waitComplete)
            : "r"(smem_addr), "r"(phase));
        return static_cast<bool>(waitComplete);
    }

    __device__ static void arrive(ValueType const* smem_ptr) {
        uint32_t smem_addr = cast_smem_ptr_to_uint(smem_ptr);
        asm volatile(
            "{\n\t"
            "mbarrier.arrive.shared::cta.b64 _, [%0];\n\t"
            "}"
            :
            : "r"(smem_addr));
    }
};

struct ClusterTransactionBarrier : public ClusterBarrier {
    __device__ ClusterTransactionBarrier() = delete;

    __device__ void arrive_and_expect_tx(uint32_t transaction_bytes) const {
        ClusterTransactionBarrier::arrive_and_expect_tx(&this->barrier_, transaction_bytes);
    }
    __device__ static void arrive_and_expect_tx(ValueType const* smem_ptr, uint32_t transaction_bytes) {
        uint32_t smem_addr = cast_smem_ptr_to_uint(smem_ptr);
        asm volatile(
            "{\n\t"
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%1], %0; \n\t"
            "}"
            :
            : "r"(transaction_bytes), "r"(smem_addr));
    }
};

template <uint32_t Stages_>
struct PipelineState {
    static constexpr uint32_t Stages = Stages_;
    int index_ = 0;
    uint32_t phase_ = 0;
    uint32_t count_ = 0;

    __device__ PipelineState() : index_{}, phase_{}, count_{} {}
    __device__ PipelineState(int index, uint32_t phase, uint32_t count) : index_(index), phase_(phase), count_(count) {}

    __device__ int index() const { return index_; }
    __device__ uint32_t phase() const { return phase_; }
    __device__ uint32_t count() const { return count_; }

    __device__ void operator++() {
        if constexpr (Stages > 0) {
            ++index_;
            ++count_;
            if (index_ == Stages) {
                index_ = 0;
                phase_ ^= 1;
            }
        }
    }
};

template <uint32_t Stages>
__device__ PipelineState<Stages> make_producer_start() {
    constexpr int InitialProducerStage = 0;
    constexpr uint32_t InitialProducerPhase = 1;
    constexpr uint32_t InitialProducerCount = 0;
    return {InitialProducerStage, InitialProducerPhase, InitialProducerCount};
}

struct SM90_BULK_COPY_G2S {
    __device__ static void copy(void const* gmem_ptr, uint64_t* mbar_ptr, void* smem_ptr, int32_t load_bytes) {
        uint32_t smem_int_mbar = cast_smem_ptr_to_uint(mbar_ptr);
        uint32_t smem_int_ptr = cast_smem_ptr_to_uint(smem_ptr);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n"
                     :
                     : "r"(smem_int_ptr), "l"(gmem_ptr), "r"(load_bytes), "r"(smem_int_mbar)
                     : "memory");
    }
};

template <int kStages, int kTile>
struct alignas(128) SharedStorage {
    alignas(128) float data[kStages][kTile];
    ClusterTransactionBarrier full[kStages];
    ClusterBarrier empty[kStages];
};

template <int kStages, int kTile, int NumConsumers>
__global__ void __launch_bounds__(32 + NumConsumers * 32) cutlass_ring(float const* in, float* out, int num_tiles) {
    static constexpr uint32_t kBytes = kTile * sizeof(float);
    using Storage = SharedStorage<kStages, kTile>;
    extern __shared__ char smem[];
    Storage& pipe = *reinterpret_cast<Storage*>(smem);
    int warp_idx = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);

    if (warp_idx == 0 && threadIdx.x % 32 == 0) {
        for (int i = 0; i < kStages; ++i) {
            pipe.full[i].init(1);
            pipe.empty[i].init(NumConsumers * 32);
        }
        cutlass_like::fence_barrier_init();
    }
    __syncthreads();

    if (warp_idx == 0) {
        if (threadIdx.x == 0) {
            PipelineState<kStages> write = make_producer_start<kStages>();
            for (int tile = 0; tile < num_tiles; ++tile) {
            pipe.empty[write.index()].wait(write.phase());
                pipe.full[write.index()].arrive_and_expect_tx(kBytes);
                SM90_BULK_COPY_G2S::copy(in + tile * kTile, reinterpret_cast<uint64_t*>(&pipe.full[write.index()]),
                                         pipe.data[write.index()], kBytes);
                ++write;
            }
        }
    } else {
        PipelineState<kStages> read;
        float acc = 0;
        int t = threadIdx.x - 32;
        for (int tile = 0; tile < num_tiles; ++tile) {
            pipe.full[read.index()].wait(read.phase());
            for (int i = t; i < kTile; i += NumConsumers * 32) acc += pipe.data[read.index()][i];
            pipe.empty[read.index()].arrive();
            ++read;
        }
        out[t] = acc;
    }
}

void launch(float const* in, float* out, int tiles) {
    cutlass_ring<4, 512, 4><<<1, 160, sizeof(SharedStorage<4, 512>)>>>(in, out, tiles);
}

}  // namespace cutlass_like
