// fault: "    ready(at.place).wait_parity(at.parity); // it is there\n" => ""
// fault: "    free(at.place).wait_parity(at.parity); // it was read\n" => ""
// fault: "free(at.place).arrive();" => ""
// fault: "parity = Begins ? 1 : 0;" => "parity = 0;"
// fault: "init(&free(i), 64);" => "init(&free(i), 32);"
// Objects lie in bytes that are aligned as they are, and the place in a ring begins as its type says.
#include <cuda/barrier>
using Object = cuda::barrier<cuda::thread_scope_block>;
template <bool Begins>
struct Turn {
  int place = 0;
  bool parity = Begins ? 1 : 0;
  __device__ void next() {
    place ^= 1;
    if (place == 0) parity = !parity;
  }
};
struct Pair {
  int value[2];
  alignas(Object) unsigned char memory[4 * sizeof(Object)];
  __device__ Object& ready(int i) { return reinterpret_cast<Object*>(memory)[i]; }
  __device__ Object& free(int i) { return reinterpret_cast<Object*>(memory)[2 + i]; }
  __device__ void begin() {
    if (threadIdx.x == 0)
      for (int i = 0; i < 2; i++) {
        init(&ready(i), 1);
        init(&free(i), 64);
      }
    __syncthreads();
  }
  __device__ void put(Turn<true>& at, int number) {
    free(at.place).wait_parity(at.parity); // it was read
    value[at.place] = number;
    (void)ready(at.place).arrive();
    at.next();
  }
  __device__ int take(Turn<false>& at) {
    ready(at.place).wait_parity(at.parity); // it is there
    int number = value[at.place];
    (void)free(at.place).arrive();
    at.next();
    return number;
  }
};
__global__ void __launch_bounds__(96) handed(const int* in, int* out, int n) {
  __shared__ Pair pair;
  pair.begin();
  if (threadIdx.x < 32) {
    Turn<true> at;
    if (threadIdx.x == 0)
      for (int i = 0; i < n; i++) pair.put(at, in[i]);
    return;
  }
  Turn<false> at;
  for (int i = 0; i < n; i++) out[i * 64 + threadIdx.x - 32] = pair.take(at);
}
