// fault: "    complete_of(s.full[stage]);\n" => ""
// fault: "made(s.full[i], 32)" => "made(s.full[i], 33)"
// fault: "  __syncthreads();  // the objects are made\n" => ""
#include <cstdint>
// A function takes an object that its constructor makes of what is given.
__device__ inline uint32_t in_shared(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
struct Phase {
  uint32_t at;
  __device__ Phase(uint64_t &object) : at(in_shared(&object)) {}
};
__device__ inline void made(Phase phase, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(phase.at), "r"(count) : "memory"); }
__device__ inline void complete_of(Phase phase) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(phase.at) : "memory"); }
__device__ inline void end_of(Phase phase, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(phase.at), "r"(parity) : "memory");
}
struct Stages {
  float row[2][32];
  uint64_t full[2], empty[2];
};
__global__ void __launch_bounds__(64) pass_rows(const float *in, float *out, int rows) {
  __shared__ Stages s;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; ++i) {
      made(s.full[i], 32);
      made(s.empty[i], 32);
    }
  __syncthreads();  // the objects are made
  for (int n = 0; n < rows; ++n) {
    const int stage = n % 2;
    const uint32_t parity = n / 2 & 1;
    if (threadIdx.x < 32) {
      end_of(s.empty[stage], parity ^ 1);
      s.row[stage][lane] = in[n * 32 + lane];
      complete_of(s.full[stage]);
    } else {
      end_of(s.full[stage], parity);
      out[n * 32 + lane] = s.row[stage][31 - lane];
      complete_of(s.empty[stage]);
    }
  }
}
