// fault: "cp.async.bulk.wait_group 0;\" ::: \"memory\"); // the panel" => "cp.async.bulk.wait_group.read 0;\" ::: \"memory\"); // the panel"
// fault: "st.release.gpu.global.u32" => "st.relaxed.gpu.global.u32"
// fault: "1u, cuda::memory_order_acq_rel" => "1u, cuda::memory_order_relaxed"
// fault: "__ldcg(sums + t)" => "__ldg(sums + t)"
// fault: "        asm volatile(\"cp.async.bulk.wait_group 0;\" ::: \"memory\"); // the sums\n" => "        asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\"); // the sums\n"
// Panels are handed from block to block by bulk copies and a flag, and sums by bulk reductions and a ticket.
#include <cuda/atomic>
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr unsigned kBytes = kThreads * sizeof(float);

static __device__ unsigned at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__global__ void __launch_bounds__(kThreads) relay(float* panels, unsigned* flags, const float* in) {
    __shared__ alignas(128) float mine[kThreads], before[kThreads];
    __shared__ unsigned long long landed;
    const int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&landed)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    float v = in[b * kThreads + t];
    if (b > 0) {
        if (t == 0) {
            unsigned seen;
            do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flags + b - 1) : "memory");
            while (seen == 0);
            asm volatile("fence.proxy.async;" ::: "memory");
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&landed)), "r"(kBytes) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                         ::"r"(at(before)), "l"(panels + (b - 1) * kThreads), "r"(kBytes), "r"(at(&landed)) : "memory");
        }
        unsigned done;
        do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                        : "=r"(done) : "r"(at(&landed)) : "memory");
        while (!done);
        v += before[t];
    }
    mine[t] = v;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                     ::"l"(panels + b * kThreads), "r"(at(mine)), "r"(kBytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); // the panel
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flags + b), "r"(1u) : "memory");
    }
}

__global__ void __launch_bounds__(kThreads) totals(float* sums, unsigned* ticket, const float* in, float* out) {
    __shared__ alignas(128) float part[kThreads];
    __shared__ bool is_last;
    const int t = threadIdx.x;
    part[t] = in[blockIdx.x * kThreads + t];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;"
                     ::"l"(sums), "r"(at(part)), "r"(kBytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); // the sums
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> done(*ticket);
        is_last = done.fetch_add(1u, cuda::memory_order_acq_rel) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) out[t] = __ldcg(sums + t) / gridDim.x;
}

void launch(float* panels, unsigned* flags, unsigned* ticket, float* sums, const float* in, float* out) {
    relay<<<64, kThreads>>>(panels, flags, in);
    totals<<<64, kThreads>>>(sums, ticket, in, out);
}
