// fault: "  __pipeline_wait_prior(0);" => ""
// fault: "  __syncthreads();" => ""
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

// Methods name types that are declared after them.
template <int N> struct Slots {
  __device__ void load(int number, const float* from) {
    Slot& slot = slots[number % in_all];
    __pipeline_memcpy_async(slot.row + threadIdx.x * 4, from, 16);
  }
  enum : int { in_all = N };
  struct Slot {
    float row[256];
  };
  Slot slots[N];
};

__global__ void __launch_bounds__(64) turned(const float* in, float* out) {
  __shared__ __align__(16) Slots<2> slots;
  slots.load(0, in + threadIdx.x * 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = slots.slots[0].row[255 - threadIdx.x];
}

void launch(const float* in, float* out) { turned<<<1, 64>>>(in, out); }
