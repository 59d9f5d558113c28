// fault: "sem_init(finished[i], 2);" => "sem_init(finished[i], 8);"
// fault: "      group_sync(1 + warpgroup);\n      if (threadIdx.x % 128 == 0) sem_arrive(finished[slot]);" => "      if (threadIdx.x % 128 == 0) sem_arrive(finished[slot]);"
// fault: "        sem_expect(arrived[slot], sizeof(stage));\n" => ""
// fault: "phase_of(it, kPipe) ^ 1" => "phase_of(it, kPipe)"
// fault: "      sem_wait(arrived[slot], phase_of(it, kPipe));\n" => ""
// fault: "      asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n      group_sync" => "      group_sync"
#include <cuda.h>
#include <cstdint>
struct sem { uint64_t v; };
__device__ static inline uint32_t ad(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ static inline void sem_init(sem& s, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ad(&s)), "r"(n)); }
__device__ static inline void sem_expect(sem& s, uint32_t n) { asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(ad(&s)), "r"(n)); }
__device__ static inline void sem_arrive(sem& s) { asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(ad(&s)), "r"(1) : "memory"); }
__device__ static inline void sem_wait(sem& s, int ph) {
  asm volatile("{\n.reg .pred P1;\nLAB:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra.uni DONE;\nbra.uni LAB;\nDONE:\n}" ::"r"(ad(&s)), "r"(ph));
}
__device__ static inline void group_sync(int id) { asm volatile("bar.sync %0, 128;" ::"r"(id)); }
__device__ static inline int phase_of(int it, int pipe) { return (it / pipe) & 1; }
struct stage { float a[1024]; };
constexpr int kPipe = 4;
__global__ void __launch_bounds__(288) rotary(const __grid_constant__ CUtensorMap src, float* dst, int iters) {
  extern __shared__ __align__(128) char sh[];
  stage* in = reinterpret_cast<stage*>(sh);
  stage* outs = in + kPipe;
  __shared__ sem arrived[kPipe], finished[kPipe];
  const int warpgroup = threadIdx.x / 128;
  if (threadIdx.x == 0) for (int i = 0; i < kPipe; i++) {
    sem_init(arrived[i], 1);
    sem_init(finished[i], 2);
  }
  __syncthreads();
  if (threadIdx.x >= 256) {
    if (threadIdx.x == 256) {
      for (int it = 0; it < iters; it++) {
        const int slot = it % kPipe;
        sem_wait(finished[slot], phase_of(it, kPipe) ^ 1);
        sem_expect(arrived[slot], sizeof(stage));
        asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"(ad(in[slot].a)), "l"(&src), "r"(ad(&arrived[slot])), "r"(it * 1024) : "memory");
        sem_arrive(arrived[slot]);
      }
    }
  } else {
    for (int it = 0; it < iters; it++) {
      const int slot = it % kPipe;
      sem_wait(arrived[slot], phase_of(it, kPipe));
      float v[4];
      for (int k = 0; k < 4; k++) v[k] = in[slot].a[warpgroup * 512 + ((threadIdx.x % 128) + k * 128) % 512];
      group_sync(1 + warpgroup);
      if (threadIdx.x % 128 == 0) sem_arrive(finished[slot]);
      if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      group_sync(1 + warpgroup);
      for (int k = 0; k < 4; k++) outs[warpgroup].a[threadIdx.x % 128 + k * 128] = v[k];
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      group_sync(1 + warpgroup);
      if (threadIdx.x % 128 == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst + (it * 2 + warpgroup) * 512), "r"(ad(outs[warpgroup].a)), "n"(2048) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      }
    }
    if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
