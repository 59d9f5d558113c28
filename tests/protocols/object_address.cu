// fault: "full.wait(turn & 1);\n" => "\n"
// fault: "full.expect(512);" => "full.expect(256);"
#include <cstdint>
struct Signal {
  uint64_t word;
  __device__ operator uint32_t() { return (uint32_t)__cvta_generic_to_shared(&word); }
  __device__ void start(int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"((uint32_t)*this), "r"(n)); }
  __device__ void expect(int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"((uint32_t)*this), "r"(n) : "memory"); }
  __device__ void wait(int p) { asm volatile("{\n.reg .pred q;\nL:\nmbarrier.try_wait.parity.shared::cta.b64 q, [%0], %1;\n@!q bra L;\n}" ::"r"((uint32_t)*this), "r"(p) : "memory"); }
};
__global__ void __launch_bounds__(128) k(const int* in, int* out, int n) {
  __shared__ alignas(128) int tile[128];
  __shared__ Signal full;
  if (threadIdx.x == 0) full.start(1);
  __syncthreads();
  int sum = 0;
  for (int turn = 0; turn < n; ++turn) {
    if (threadIdx.x == 0) {
      full.expect(512);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"((uint32_t)__cvta_generic_to_shared(tile)), "l"(in + turn * 128), "r"((uint32_t)full) : "memory");
    }
    full.wait(turn & 1);
    sum += tile[127 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
