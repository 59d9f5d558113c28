// fault: "    __threadfence(); // held\n" => ""
// fault: "    __threadfence(); // written\n" => ""
// fault: "atomicCAS(&busy, 0, 1)" => "atomicCAS_block(&busy, 0, 1)"
// fault: "    bucket->best[bucket->size++] = v;\n    bucket->unlock();\n" => "    bucket->best[bucket->size++] = v;\n"
// A lock that lies beside what it keeps apart.
#include <cuda_runtime.h>
struct Bucket {
  int busy, size;
  float best[14];
  __device__ void lock() {
    while (atomicCAS(&busy, 0, 1) != 0) {
      __nanosleep(20);
    }
    __threadfence(); // held
  }
  __device__ void unlock() {
    __threadfence(); // written
    atomicExch(&busy, 0);
  }
};
__global__ void __launch_bounds__(128) insert(const float* in, Bucket* buckets, int n) {
  if (threadIdx.x != 0) return;
  for (int i = blockIdx.x; i < n; i += gridDim.x) {
    const float v = in[i];
    Bucket* bucket = buckets + i % 61;
    bucket->lock();
    bucket->best[bucket->size++] = v;
    bucket->unlock();
  }
  Bucket* first = buckets + blockIdx.x % 61;
  first->lock();
  first->best[0] += 1;
  first->unlock();
}
