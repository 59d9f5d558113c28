// fault: "\"h\"((uint16_t)3) : \"memory\");  // both blocks" => "\"h\"((uint16_t)1) : \"memory\");  // both blocks"
// fault: "    mb_wait(&fin, 0);\n" => ""
// fault: "    csync();  // both have read\n" => ""
// fault: "            mb_expect(&full, 4 * BYTES);" => "            mb_expect(&full, 2 * BYTES);"
// args: --target sm_100a
#include <cstdint>
__device__ __forceinline__ uint32_t s32(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void mb_init(uint64_t *b, uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(s32(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void mb_expect(uint64_t *b, uint32_t n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(s32(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void mb_arrive(uint64_t *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(s32(b)) : "memory"); }
__device__ __forceinline__ void mb_wait(uint64_t *b, uint32_t ph) {
    uint32_t ok = 0;
    while (!ok) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(s32(b)), "r"(ph) : "memory");
    }
}
__device__ __forceinline__ void bulk_in(void *d, const void *s, uint32_t n, uint64_t *b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(s32(d)), "l"(s), "r"(n), "r"(s32(b)) : "memory");
}
__device__ __forceinline__ void bulk_out(void *d, const void *s, uint32_t n) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(d), "r"(s32(s)), "r"(n) : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
template <int N> __device__ __forceinline__ void bulk_wait() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void csync() { asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory"); }
constexpr uint32_t BYTES = 8192;
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) pair(const char *a, const char *b, uint32_t *out, uint32_t idesc) {
    __shared__ alignas(1024) char sa[BYTES];
    __shared__ alignas(1024) char sb[BYTES];
    __shared__ uint64_t full, fin;
    __shared__ uint32_t slot;
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    const int warp = threadIdx.x >> 5;
    if (warp == 0) {
        asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(s32(&slot)) : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
    }
    if (threadIdx.x == 32) {
        mb_init(&full, 1);
        mb_init(&fin, 1);
        fence_init();
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    csync();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    const uint32_t tm = slot;
    if (threadIdx.x == 0) {
        uint32_t leader_full = s32(&full) & 0xFEFFFFFFu;
        if (rank == 0) {
            mb_expect(&full, 4 * BYTES);
        }
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(s32(sa)), "l"(a + rank * BYTES), "r"(BYTES), "r"(leader_full) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(s32(sb)), "l"(b + rank * BYTES), "r"(BYTES), "r"(leader_full) : "memory");
        if (rank == 0) {
            mb_wait(&full, 0);
            asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
            const uint64_t base = (1ull << 46) | (2ull << 61) | (64ull << 32) | (1ull << 16);
            uint64_t da = base | (s32(sa) >> 4 & 0x3fff), db = base | (s32(sb) >> 4 & 0x3fff);
            asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(tm), "l"(da), "l"(db), "r"(idesc), "r"(0) : "memory");
            asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(s32(&fin)), "h"((uint16_t)3) : "memory");  // both blocks
        }
    }
    __syncwarp();
    mb_wait(&fin, 0);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    uint32_t x;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(x) : "r"(tm + (warp << 21)));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[blockIdx.x * 128 + threadIdx.x] = x;
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    csync();  // both have read
    if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 64;" ::"r"(tm));
}
