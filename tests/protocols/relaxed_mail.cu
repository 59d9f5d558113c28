// fault: "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" => "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];"
// fault: "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;" => "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 p, [%1], %2;"
// fault: "  meet();  // both boxes are there\n" => ""
#include <cstdint>

__device__ __forceinline__ void meet() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Two blocks give each other a row, which is read when all threads of the other one have written.
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) swap_rows(const float* in, float* out) {
  __shared__ float box[128];
  __shared__ alignas(8) uint64_t got;
  const uint32_t object = uint32_t(__cvta_generic_to_shared(&got)), row = uint32_t(__cvta_generic_to_shared(box));
  uint32_t rank, its_box, its_object, done = 0;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;\nfence.mbarrier_init.release.cluster;" ::"r"(object) : "memory");
  }
  meet();  // both boxes are there
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(its_box) : "r"(row), "r"(rank ^ 1));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(its_object) : "r"(object), "r"(rank ^ 1));
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(its_box + 4 * threadIdx.x), "f"(in[blockIdx.x * 128 + threadIdx.x]) : "memory");
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(its_object) : "memory");
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(object), "r"(0) : "memory");
  out[blockIdx.x * 128 + threadIdx.x] = box[threadIdx.x ^ 64];
  meet();  // the other may still write
}
