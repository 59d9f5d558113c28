// fault: "    fence_async();\n" => ""
// fault: "    group::sync(4);\n    if" => "    if"
// fault: "      read_wait();\n    }\n" => "    }\n"
// fault: "  if (group::laneid() == 0) read_wait();\n" => ""

#include <cstdint>

// Functions of a namespace whose templates have defaults, an alias of a template, a reference to an array.
namespace tiles {
template <int N = 0> __device__ static inline void read_wait() {
  asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(N) : "memory");
}
__device__ static inline void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
template <int WARPS = 4> struct warps {
  __device__ static inline void sync(int id) { asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(WARPS * 32)); }
  __device__ static inline int laneid() { return threadIdx.x % (WARPS * 32); }
};
using group = warps<4>;
struct tile {
  float data[1024];
};
}  // namespace tiles
using namespace tiles;

__global__ void __launch_bounds__(128) store(float* out, const float* in, int n) {
  extern __shared__ __align__(128) char memory[];
  tile(&both)[2] = *reinterpret_cast<tile(*)[2]>(memory);
  for (int t = 0; t < n; ++t) {
    if (group::laneid() == 0) {
      read_wait();
    }
    group::sync(4);
    for (int i = threadIdx.x; i < 1024; i += 128) both[1].data[i] = in[t * 1024 + i];
    fence_async();
    group::sync(4);
    if (group::laneid() == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 4096;" ::"l"(out + t * 1024),
                   "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&both[1])))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;");
    }
  }
  if (group::laneid() == 0) read_wait();
}
