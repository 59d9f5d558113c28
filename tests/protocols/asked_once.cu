// fault: "    if (!token) full_[s.index].wait(s.phase);" => "    if (!token && s.index) full_[s.index].wait(s.phase);"
// fault: "PipeState<Stages> rd{0, 0}, rel{0, 0};" => "PipeState<Stages> rd{0, 1}, rel{0, 0};"
// fault: "PipeState<Stages> wr{0, 1};" => "PipeState<Stages> wr{0, 0};"
// fault: "mma_wait<1>();" => "mma_wait<2>();"
// fault: "    if (leader) full_[s.index].expect(bytes_);\n" => ""
// fault: "empty_[i].init(consumers);" => "empty_[i].init(consumers + 1);"
// fault: "pipe.init(threadIdx.x == 0, Stages, kTileA + kTileB, 256 / 32);" => "pipe.init(threadIdx.x == 0, Stages, kTileA, 256 / 32);"
// fault: "pipe.release(rel, lane == 0);" => "pipe.release(rd, lane == 0);"
#include <cstdint>
#include <cuda.h>
__device__ __forceinline__ uint32_t sptr(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
struct Mbar {
  uint64_t v;
  __device__ __forceinline__ void init(int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sptr(&v)), "r"(n)); }
  __device__ __forceinline__ void expect(uint32_t n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sptr(&v)), "r"(n) : "memory"); }
  __device__ __forceinline__ void arrive() { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sptr(&v)) : "memory"); }
  __device__ __forceinline__ bool peek(uint32_t ph) {
    uint32_t r;
    asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\nselp.u32 %0, 1, 0, q;\n}" : "=r"(r) : "r"(sptr(&v)), "r"(ph) : "memory");
    return r;
  }
  __device__ __forceinline__ void wait(uint32_t ph) { while (!peek(ph)) {} }
};
template <int N> struct PipeState {
  uint32_t index, phase;
  __device__ __forceinline__ void next() { if (++index == N) { index = 0; phase ^= 1; } }
};
template <int N> struct Pipe {
  Mbar* full_;
  Mbar* empty_;
  uint32_t bytes_;
  __device__ __forceinline__ void init(bool one, int n, uint32_t bytes, int consumers) {
    bytes_ = bytes;
    if (one) for (int i = 0; i < n; i++) {
      full_[i].init(1);
      empty_[i].init(consumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __device__ __forceinline__ void acquire(PipeState<N>& s, bool leader) {
    empty_[s.index].wait(s.phase);
    if (leader) full_[s.index].expect(bytes_);
  }
  __device__ __forceinline__ bool try_consume(PipeState<N>& s) { return full_[s.index].peek(s.phase); }
  __device__ __forceinline__ void consume(PipeState<N>& s, bool token) {
    if (!token) full_[s.index].wait(s.phase);
  }
  __device__ __forceinline__ void release(PipeState<N>& s, bool one) { if (one) empty_[s.index].arrive(); }
};
__device__ __forceinline__ void load2d(void* d, const CUtensorMap* m, Mbar& b, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(sptr(d)), "l"(m), "r"(sptr(&b)), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ uint64_t desc(const void* p) { return ((sptr(p) & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62; }
template <int N> __device__ __forceinline__ void mma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void mma(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}
constexpr int kTileA = 16384, kTileB = 1024;
template <int Stages>
__global__ void __launch_bounds__(288) gemm(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, float* C, int k_tiles) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ Mbar bars[2 * Stages];
  Pipe<Stages> pipe{bars, bars + Stages};
  pipe.init(threadIdx.x == 0, Stages, kTileA + kTileB, 256 / 32);
  __syncthreads();
  const int lane = threadIdx.x & 31;
  if (threadIdx.x >= 256) {
    PipeState<Stages> wr{0, 1};
    if (lane == 0) {
      for (int k = 0; k < k_tiles; ++k, wr.next()) {
        pipe.acquire(wr, true);
        char* at = smem + wr.index * (kTileA + kTileB);
        load2d(at, &A, bars[wr.index], k * 64, blockIdx.x * 128);
        load2d(at + kTileA, &B, bars[wr.index], k * 64, 0);
      }
    }
  } else {
    float acc[4] = {};
    PipeState<Stages> rd{0, 0}, rel{0, 0};
    const int half = (threadIdx.x / 128) * (kTileA / 2);
    auto multiply = [&]() {
      char* at = smem + rd.index * (kTileA + kTileB);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int j = 0; j < 4; j++) mma(acc, desc(at + half + j * 32), desc(at + kTileA + j * 32));
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    };
    if (k_tiles > 0) {
      bool t = pipe.try_consume(rd);
      pipe.consume(rd, t);
      multiply();
      rd.next();
      for (int k = 1; k < k_tiles; ++k) {
        t = pipe.try_consume(rd);
        pipe.consume(rd, t);
        multiply();
        mma_wait<1>();
        pipe.release(rel, lane == 0);
        rel.next();
        rd.next();
      }
      mma_wait<0>();
    }
    for (int i = 0; i < 4; i++) C[(blockIdx.x * 256 + threadIdx.x) * 4 + i] = acc[i];
  }
}
void go(CUtensorMap a, CUtensorMap b, float* c, int k) { gemm<4><<<8, 288, 4 * (kTileA + kTileB)>>>(a, b, c, k); }
