// fault: "  const Buffer b{3, 4};" => "  const Buffer b{1, 2};"
// fault: "    b.released();\n    for" => "    for"
// Two buffers with named barriers of their own: which ones these are is said where the buffers are made.
#include <cstdint>
__device__ void meet(int id) { asm volatile("bar.sync %0, 160;" ::"r"(id) : "memory"); }
__device__ void come(int id) { asm volatile("bar.arrive %0, 160;" ::"r"(id) : "memory"); }

struct Buffer {
  int full, empty;
  __device__ void acquire() const { meet(empty); }
  __device__ void filled() const { come(full); }
  __device__ void wait() const { meet(full); }
  __device__ void released() const { come(empty); }
};

__global__ void __launch_bounds__(160) rows(const float* in, float* out, int n) {
  __shared__ float tile[2][128];
  const Buffer a{1, 2};
  const Buffer b{3, 4};
  if (threadIdx.x >= 128) {
    const int lane = threadIdx.x - 128;
    for (int k = 0; k < n; k += 2) {
      a.acquire();
      for (int i = lane; i < 128; i += 32) tile[0][i] = in[k * 128 + i];
      a.filled();
      b.acquire();
      for (int i = lane; i < 128; i += 32) tile[1][i] = in[k * 128 + 128 + i];
      b.filled();
    }
  } else {
    a.released();
    b.released();
    for (int k = 0; k < n; k += 2) {
      a.wait();
      out[k * 128 + threadIdx.x] = tile[0][127 - threadIdx.x];
      if (k + 2 < n) a.released();
      b.wait();
      out[k * 128 + 128 + threadIdx.x] = tile[1][127 - threadIdx.x];
      if (k + 2 < n) b.released();
    }
  }
}
