// fault: "      order[g ^ 1].arrive();\n" => ""
// fault: "uint32_t turn = g == 0 ? 1 : 0;" => "uint32_t turn = 0;"
// fault: "      turn ^= 1;\n" => ""
// fault: "order[i].init(128);" => "order[i].init(4);"
// fault: "load[st].expect(kTile);" => "load[st].expect(2 * kTile);"
// fault: "done[st].wait(((t / 3) & 1) ^ 1);" => ""
// fault: "      done[st].arrive();\n" => ""
#include <cstdint>
struct Barrier {
  uint64_t bits;
  __device__ uint32_t at() { return (uint32_t)__cvta_generic_to_shared(&bits); }
  __device__ void init(int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at()), "r"(n)); }
  __device__ void arrive() { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at()) : "memory"); }
  __device__ void expect(int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at()), "r"(n) : "memory"); }
  __device__ void wait(uint32_t phase) {
    asm volatile("{\n.reg .pred complete;\nloop:\nmbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n@!complete bra loop;\n}" ::"r"(at()), "r"(phase) : "memory");
  }
};
constexpr int kTile = 4096;
// Two groups take turns with tiles, and write their results in order.
__global__ void __launch_bounds__(288) pingpong(const char* in, int* out, int tiles) {
  extern __shared__ __align__(128) char buf[];
  __shared__ Barrier load[3], done[3], order[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 3; i++) {
      load[i].init(1);
      done[i].init(128);
    }
    for (int i = 0; i < 2; i++) order[i].init(128);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int g = threadIdx.x / 128;
  if (g == 2) {
    if (threadIdx.x == 256) for (int t = 0; t < tiles; t++) {
      const int st = t % 3;
      done[st].wait(((t / 3) & 1) ^ 1);
      load[st].expect(kTile);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"((uint32_t)__cvta_generic_to_shared(buf + st * kTile)), "l"(in + t * kTile), "r"(kTile), "r"(load[st].at()) : "memory");
    }
  } else {
    uint32_t turn = g == 0 ? 1 : 0;
    for (int t = g; t < tiles; t += 2) {
      const int st = t % 3;
      load[st].wait((t / 3) & 1);
      const int* p = reinterpret_cast<const int*>(buf + st * kTile);
      int s = 0;
      for (int i = threadIdx.x & 127; i < kTile / 4; i += 128) s += p[i];
      done[st].arrive();
      order[g].wait(turn);
      out[t * 128 + (threadIdx.x & 127)] = s;
      turn ^= 1;
      order[g ^ 1].arrive();
    }
  }
}
