// fault: "WAIT(empty[slot], turn ^ 1);" => "WAIT(empty[slot], turn);"
// fault: "      WAIT(full[slot], turn);\n" => ""
// fault: "const int slot = it % DEPTH, turn = (it / DEPTH) & 1;\n      WAIT(full" => "const int slot = it % DEPTH, turn = it & 1;\n      WAIT(full"
// fault: "MBAR_INIT(empty[i], CONSUMERS);" => "MBAR_INIT(empty[i], CONSUMERS * 32);"
// fault: "EXPECT(full[slot], sizeof(buf[0]));" => "EXPECT(full[slot], sizeof(buf));"
#include <cstdint>
#define DEPTH 4
#define CONSUMERS 4
#define SM(x) static_cast<uint32_t>(__cvta_generic_to_shared(&(x)))
#define MBAR_INIT(b, n) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(SM(b)), "r"(n))
#define ARRIVE(b) asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" :: "r"(SM(b)) : "memory")
#define EXPECT(b, n) asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" :: "r"(SM(b)), "r"((uint32_t)(n)) : "memory")
#define WAIT(b, p) do { uint32_t ok_; do { asm volatile("{\n .reg .pred q;\n mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 q, [%1], %2;\n selp.u32 %0, 1, 0, q;\n}" : "=r"(ok_) : "r"(SM(b)), "r"((uint32_t)(p)) : "memory"); } while (!ok_); } while (0)
#define BULK(d, s, n, b) asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(SM(d)), "l"(s), "r"((uint32_t)(n)), "r"(SM(b)) : "memory")
__global__ void __launch_bounds__(32 * (CONSUMERS + 1)) hist(const uint8_t* __restrict__ src, uint32_t* dst, int iters) {
  __shared__ alignas(128) uint8_t buf[DEPTH][2048];
  __shared__ alignas(8) uint64_t full[DEPTH];
  __shared__ alignas(8) uint64_t empty[DEPTH];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  if (threadIdx.x < DEPTH) {
    const int i = threadIdx.x;
    MBAR_INIT(full[i], 1);
    MBAR_INIT(empty[i], CONSUMERS);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (warp == CONSUMERS) {
    if (lane == 0) for (int it = 0; it < iters; ++it) {
      const int slot = it % DEPTH, turn = (it / DEPTH) & 1;
      WAIT(empty[slot], turn ^ 1);
      EXPECT(full[slot], sizeof(buf[0]));
      BULK(buf[slot], src + (size_t)it * sizeof(buf[0]), sizeof(buf[0]), full[slot]);
    }
  } else {
    uint32_t n = 0;
    for (int it = 0; it < iters; ++it) {
      const int slot = it % DEPTH, turn = (it / DEPTH) & 1;
      WAIT(full[slot], turn);
      for (int j = threadIdx.x; j < 2048; j += 32 * CONSUMERS) n += buf[slot][j];
      __syncwarp();
      if (lane == 0) ARRIVE(empty[slot]);
    }
    atomicAdd(dst + lane, n);
  }
}
