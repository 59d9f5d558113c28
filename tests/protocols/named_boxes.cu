// fault: "      nb_sync(FULL1, 256);\n" => ""
// fault: "      s += box[1][t ^ 64];\n      if (i + 2 < n) nb_arrive(EMPTY1, 256);\n" => "      if (i + 2 < n) nb_arrive(EMPTY1, 256);\n      s += box[1][t ^ 64];\n"
#include <cstdint>
__device__ __forceinline__ void nb_sync(int id, int n) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }
__device__ __forceinline__ void nb_arrive(int id, int n) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }
// warps 0-3 write, warps 4-7 read, by named barriers
enum { FULL0 = 1, FULL1, EMPTY0, EMPTY1 };
__global__ void __launch_bounds__(256) handoff(int *out, const int *in, int n) {
  __shared__ int box[2][128];
  if (threadIdx.x < 128) {
    for (int i = 0; i < n; i += 2) {
      nb_sync(EMPTY0, 256);
      box[0][threadIdx.x] = in[i * 128 + threadIdx.x];
      __threadfence_block();
      nb_arrive(FULL0, 256);
      nb_sync(EMPTY1, 256);
      box[1][threadIdx.x] = in[(i + 1) * 128 + threadIdx.x];
      __threadfence_block();
      nb_arrive(FULL1, 256);
    }
  } else {
    const int t = threadIdx.x - 128;
    int s = 0;
    nb_arrive(EMPTY0, 256);
    nb_arrive(EMPTY1, 256);
    for (int i = 0; i < n; i += 2) {
      nb_sync(FULL0, 256);
      s += box[0][t ^ 1];
      if (i + 2 < n) nb_arrive(EMPTY0, 256);
      nb_sync(FULL1, 256);
      s += box[1][t ^ 64];
      if (i + 2 < n) nb_arrive(EMPTY1, 256);
    }
    out[t] = s;
  }
}
