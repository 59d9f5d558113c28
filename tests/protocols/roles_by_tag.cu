// fault: "    wait(&c.empty[s], phase);\n" => ""
// fault: "    wait(c.full + s, phase);\n" => ""
// fault: "px::mbarrier_init(c.empty + i, 2)" => "px::mbarrier_init(c.empty + i, 3)"
// fault: "bool phase = true;" => "bool phase = false;"
// Roles that overloads are chosen by, templates among them, and memory that is given out piece by piece.
#include <cuda.h>
#include <cuda/ptx>
#include <cuda_bf16.h>
#include <cstdint>
#include <algorithm>
#include <initializer_list>
namespace px = cuda::ptx;
template <class T> struct Carver {
  char* at;
  template <class U = T> __device__ U* take(size_t n, size_t align = alignof(U)) {
    auto a = reinterpret_cast<uintptr_t>(at);
    a = (a + align - 1) & ~(align - 1);
    U* p = reinterpret_cast<U*>(a);
    at = reinterpret_cast<char*>(p + n);
    return p;
  }
};
struct Shapes { int m, n, k; };
enum Role : int { kProducer = 0, kConsumer0, kConsumer1, kEpilogue, kRoles };
template <Role R> struct RoleTag {};
struct Ctx { __nv_bfloat16* a; float* out; uint64_t *full, *empty, *done; int steps; };
constexpr int kStages = 3, kElems = 4096;
static __device__ __forceinline__ void wait(uint64_t* b, bool phase) { while (!px::mbarrier_try_wait_parity(b, phase)) ; }
__device__ void run(RoleTag<kProducer>, Ctx& c, const __nv_bfloat16* g) {
  if (!px::elect_sync(~0u)) return;
  bool phase = true;
  for (int k = 0, s = 0; k < c.steps; ++k) {
    wait(&c.empty[s], phase);
    px::mbarrier_arrive_expect_tx(px::sem_release, px::scope_cta, px::space_shared, &c.full[s], kElems * 2);
    px::cp_async_bulk(px::space_cluster, px::space_global, c.a + s * kElems, g + (size_t)k * kElems, kElems * 2, &c.full[s]);
    if (++s == kStages) s = 0, phase = !phase;
  }
}
template <Role R> __device__ void run(RoleTag<R>, Ctx& c, const __nv_bfloat16*) {
  constexpr int half = R - kConsumer0;
  const int lane = threadIdx.x % 32;
  float acc = 0.f;
  int s = 0; bool phase = false;
  for (int k = c.steps; k--; ) {
    wait(c.full + s, phase);
    const __nv_bfloat16* p = c.a + s * kElems + half * (kElems / 2);
    for (int i = lane; i < kElems / 2; i += 32) acc += __bfloat162float(p[i]);
    __syncwarp();
    if (lane == 0) px::mbarrier_arrive(px::sem_release, px::scope_cta, px::space_shared, c.empty + s);
    s = (s + 1) % kStages; phase ^= (s == 0);
  }
  c.out[half * 32 + lane] = acc;
  px::mbarrier_arrive(px::sem_release, px::scope_cta, px::space_shared, c.done);
}
__device__ void run(RoleTag<kEpilogue>, Ctx& c, float* y) { wait(c.done, false); y[blockIdx.x * 32 + threadIdx.x % 32] = c.out[threadIdx.x % 32] + c.out[32 + threadIdx.x % 32]; }
__global__ void __launch_bounds__(32 * kRoles) k(const __nv_bfloat16* g, float* y, Shapes sh) {
  extern __shared__ char dyn[];
  Carver<char> carve{dyn};
  Ctx c{};
  c.a = carve.take<__nv_bfloat16>(kStages * kElems, 128);
  c.out = carve.take<float>(64);
  c.full = carve.take<uint64_t>(kStages);
  c.empty = carve.take<uint64_t>(kStages);
  c.done = carve.take<uint64_t>(1);
  c.steps = std::max(sh.k, 1);
  if (threadIdx.x == 0) {
    for (int i : {0, 1, 2}) { px::mbarrier_init(c.full + i, 1); px::mbarrier_init(c.empty + i, 2); }
    px::mbarrier_init(c.done, 64);
    px::fence_mbarrier_init(px::sem_release, px::scope_cluster);
  }
  __syncthreads();
  const Role roles[] = {kProducer, kConsumer0, kConsumer1, kEpilogue};
  switch (roles[threadIdx.x / 32]) {
    case kProducer: return run(RoleTag<kProducer>{}, c, g);
    case kConsumer0: run(RoleTag<kConsumer0>{}, c, g); break;
    case kConsumer1: run(RoleTag<kConsumer1>{}, c, g); break;
    default: run(RoleTag<kEpilogue>{}, c, y);
  }
}
