// fault: "ld_acquire_sys(ready)" => "ld_acquire_cta(ready)"
// fault: "  asm volatile(\"fence.proxy.async.global;\" ::: \"memory\");\n" => ""
#include <cstdint>
__device__ __forceinline__ uint64_t ld_acquire_sys(const uint64_t* p) { uint64_t v; asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); return v; }
__device__ __forceinline__ uint64_t ld_acquire_cta(const uint64_t* p) { uint64_t v; asm volatile("ld.acquire.cta.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); return v; }
__device__ __forceinline__ uint32_t sp(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__global__ void __launch_bounds__(32) recv(const uint64_t* ready, const char* data, int* out) {
  __shared__ alignas(128) char buf[512];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sp(&bar)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncwarp();
  if (threadIdx.x == 0) {
  while (ld_acquire_sys(ready) == 0) {
  }
  asm volatile("fence.proxy.async.global;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(sp(&bar)));
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(sp(buf)), "l"(data), "r"(sp(&bar)) : "memory");
  }
  __syncwarp();
  uint32_t ok = 0;
  while (!ok) asm volatile("{.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0,1,0,p;}" : "=r"(ok) : "r"(sp(&bar)) : "memory");
  out[threadIdx.x] = buf[threadIdx.x * 16];
}
