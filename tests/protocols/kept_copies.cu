// fault: "wait(turn & 1);\n" => "\n"
#include <cstdint>
__global__ void __launch_bounds__(128) k(const int* in, int* out, int n) {
  __shared__ alignas(128) int tile[128];
  __shared__ uint64_t full;
  const uint32_t bar = (uint32_t)__cvta_generic_to_shared(&full);
  uint32_t to = (uint32_t)__cvta_generic_to_shared(tile);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
  __syncthreads();
  auto load = [=](const int* from) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(bar) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(to), "l"(from), "r"(bar) : "memory");
  };
  // The copies are of before.
  to = 0;
  auto wait = [&](int parity) {
    auto is_done = [=]() {
      int done;
      asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(done) : "r"(bar), "r"(parity) : "memory");
      return done;
    };
    while (!is_done()) {
    }
  };
  int sum = 0;
  for (int turn = 0; turn < n; ++turn) {
    if (threadIdx.x == 0) load(in + turn * 128);
    wait(turn & 1);
    sum += tile[127 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum + to;
}
