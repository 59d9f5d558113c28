// fault: "      part[blockIdx.x] = sum;\n      __threadfence();\n" => "      part[blockIdx.x] = sum;\n"
// fault: "*(volatile int*)(ready + threadIdx.x)" => "*(int*)(ready + threadIdx.x)"
// fault: "    __syncthreads();\n    for (int j" => "    for (int j"
// A flag that is volatile by a cast, and a number that is by its declaration.
#include <cuda_runtime.h>
struct Ticket {
  unsigned pad[8];
  volatile unsigned seen; // how many parts there are
};
template <class T> __device__ __forceinline__ void put(volatile T* to, T value) { *to = value; }
__global__ void __launch_bounds__(128) parts(const float* in, float* part, Ticket* ticket, int* ready, float* out, int blocks, int n) {
  if (blockIdx.x < blocks) {
    if (threadIdx.x == 0) {
      float sum = 0;
      for (int i = blockIdx.x; i < n; i += blocks) sum += in[i];
      part[blockIdx.x] = sum;
      __threadfence();
      put(ready + blockIdx.x, 1);
    }
  } else {
    if (threadIdx.x < blocks) {
      while (*(volatile int*)(ready + threadIdx.x) == 0) {}
      __threadfence();
    }
    if (threadIdx.x == 0) {
      while (ticket->seen < 1) {}
      __threadfence();
    }
    __syncthreads();
    for (int j = threadIdx.x; j < blocks; j += 128) out[j] = __ldcg(part + j);
  }
}
