// fault: "  asm volatile(\"tcgen05.fence::after_thread_sync;\" ::: \"memory\");  // the product\n" => ""
// fault: "  asm volatile(\"tcgen05.wait::ld.sync.aligned;\" ::: \"memory\");\n" => ""
// fault: "  fence_proxy();  // the matrices\n" => ""
// The only wait for an object has a fence, as the two barriers of the block have.
#include <cstdint>
#include <cuda_runtime.h>
constexpr int K = 64;
__device__ __forceinline__ uint32_t at(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ uint64_t matrix(const void* p) { return ((at(p) & 0x3ffff) >> 4) | (1ull << 46) | (64ull << 32); }
__global__ void __launch_bounds__(128) product(const uint16_t* a, const uint16_t* b, float* c) {
  __shared__ alignas(1024) uint16_t left[128 * K], right[32 * K];
  __shared__ uint64_t done;
  __shared__ uint32_t columns;
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&done)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (warp == 0) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(at(&columns)) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  for (int i = threadIdx.x; i < 128 * K; i += 128) left[i] = a[i];
  for (int i = threadIdx.x; i < 32 * K; i += 128) right[i] = b[i];
  fence_proxy();  // the matrices
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const uint32_t tensor = columns;
  if (threadIdx.x == 0) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(tensor), "l"(matrix(left)), "l"(matrix(right)), "r"(0x8080490), "r"(0));
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(at(&done)) : "memory");
  }
  __syncwarp();
  asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra W;\n}" ::"r"(at(&done)) : "memory");
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");  // the product
  float v[4];
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];" : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]) : "r"(tensor + (warp << 21)));
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  for (int i = 0; i < 4; ++i) c[threadIdx.x * 4 + i] = v[i];
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(tensor));
}
void run(const uint16_t* a, const uint16_t* b, float* c) { product<<<1, 128>>>(a, b, c); }
