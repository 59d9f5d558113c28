// fault: "    proxy_fence();\n    __syncthreads();\n    if (threadIdx.x == 0) r.store" => "    __syncthreads();\n    if (threadIdx.x == 0) r.store"
// fault: "      r.full_wait(i & 1, (i >> 1) & 1);\n" => ""
// fault: "(i >> 1) & 1);\n      sum" => "i & 1);\n      sum"
// fault: "r.fill(i + 2, src);" => "r.fill(i + 1, src);"
// fault: "      __syncthreads();\n      if (threadIdx.x == 0 && i + 2 < n)" => "      if (threadIdx.x == 0 && i + 2 < n)"
// fault: "    proxy_fence();\n    __syncthreads();\n" => "    proxy_fence();\n"
#include <cstdint>
__device__ __forceinline__ uint32_t at(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
union alignas(128) Room {
  struct {
    float in[2][256];
    float scale;
  } load;
  float out[128];
};
struct Bars { uint64_t full[2]; };
struct Ring {
  Room& room;
  Bars& bars;
  int length;
  __device__ void fill(int i, const float* src) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(at(&bars.full[i & 1])) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(at(room.load.in[i & 1])), "l"(src + i * 256), "r"(at(&bars.full[i & 1])) : "memory");
  }
  __device__ void full_wait(int s, uint32_t parity) {
    asm volatile("{\n.reg .pred q;\nT:\nmbarrier.try_wait.parity.shared::cta.b64 q, [%0], %1;\n@q bra F;\nbra T;\nF:\n}" ::"r"(at(&bars.full[s])), "r"(parity) : "memory");
  }
  __device__ void store(float* dst) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;\n\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::"l"(dst), "r"(at(room.out)) : "memory");
  }
};
__global__ void __launch_bounds__(128) sums(float* dst, const float* src, int n) {
  __shared__ Room room;
  __shared__ Bars bars;
  Ring r{room, bars, n};
  if (threadIdx.x < 2) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bars.full[threadIdx.x])));
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 0; i < 2 && i < n; ++i) r.fill(i, src);
  float sum = 0.f;
  for (int i = 0; i < n; ++i) {
      r.full_wait(i & 1, (i >> 1) & 1);
      sum += room.load.in[i & 1][threadIdx.x] + room.load.in[i & 1][255 - threadIdx.x];
      __syncthreads();
      if (threadIdx.x == 0 && i + 2 < n) r.fill(i + 2, src);
  }
    room.out[threadIdx.x] = sum;
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) r.store(dst);
}
