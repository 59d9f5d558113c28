// fault: "this->*which)[i].wait" => "this->*which)[0].wait"
// fault: "r.pad[0].init(1)" => "r.pad[0].init(2)"
#include <cstdint>
struct Bar { uint64_t v;
  __device__ uint32_t a() const { return (uint32_t)__cvta_generic_to_shared(&v); }
  __device__ void init(int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(a()), "r"(n)); }
  __device__ void expect(int n) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(a()), "r"(n)); }
  __device__ void wait(int p) { asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra W;\n}" :: "r"(a()), "r"(p)); } };
struct R { Bar b; Bar c; Bar pad[2];
  __device__ void w(Bar (R::*which)[2], int i, int p) { (this->*which)[i].wait(p); } };
__global__ void __launch_bounds__(128) k(const float* in, float* out, int n) {
  __shared__ alignas(128) float s[2][256]; __shared__ R r;
  if (threadIdx.x == 0) { r.b.init(1); r.pad[0].init(1); r.pad[1].init(1); asm volatile("fence.mbarrier_init.release.cluster;"); }
  __syncthreads();
  for (int t = 0; t < n; ++t) {
    int i = t & 1;
    if (threadIdx.x == 0) { r.pad[i].expect(1024);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" :: "r"((uint32_t)__cvta_generic_to_shared(s[i])), "l"(in + t * 256), "r"(r.pad[i].a()) : "memory"); }
    r.w(&R::pad, i, (t >> 1) & 1);
    out[t * 128 + threadIdx.x] = s[i][threadIdx.x];
    __syncthreads();
  }
}
