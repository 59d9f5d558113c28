// fault: "    make(&full[1], 1);\n" => "    make(&full[1], 2);\n"
// fault: "    __syncthreads();  // read\n" => ""
// The first blocks do something else: how many they are is a parameter, and how many arrive does not depend on it.
#include <cstdint>
__device__ uint32_t place_of(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void make(uint64_t* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place_of(b)), "r"(n)); }
__device__ void wait(uint64_t* b, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(place_of(b)),
               "r"(parity)
               : "memory");
}
__device__ void load(float* to, const float* from, uint64_t* b) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(place_of(b)) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(place_of(to)),
               "l"(from), "r"(place_of(b))
               : "memory");
}
__global__ void __launch_bounds__(128) rows(const float* in, float* out, float* copy, int n, int copiers) {
  __shared__ alignas(128) float stage[2][256];
  __shared__ uint64_t full[2];
  if ((int)blockIdx.x < copiers) {
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n * 256; i += copiers * 128) copy[i] = in[i];
    return;
  }
  if (threadIdx.x == 0) {
    make(&full[0], 1);
    make(&full[1], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  int i = 0;
  for (int t = blockIdx.x - copiers; t < n; t += gridDim.x - copiers, ++i) {
    if (threadIdx.x == 0) load(stage[i & 1], in + t * 256, &full[i & 1]);
    wait(&full[i & 1], i >> 1 & 1);
    out[t * 128 + threadIdx.x] = stage[i & 1][threadIdx.x] + stage[i & 1][255 - threadIdx.x];
    __syncthreads();  // read
  }
}
