// fault: "flag_.store(value, kPublishes);" => "flag_.store(value, cuda::memory_order_relaxed);"
// fault: "flag_.load(kSees)" => "flag_.load(cuda::memory_order_relaxed)"
// fault: "    parts[block] = sum;\n    own.raise(1);" => "    own.raise(1);\n    parts[block] = sum;"
// A flag is an object that refers to an atomic one, whose scope and orders are constants of the file.
#include <cuda/atomic>
constexpr auto kWho = cuda::thread_scope_device;
constexpr cuda::memory_order kPublishes = cuda::memory_order_release;
constexpr cuda::memory_order kSees = cuda::memory_order_acquire;

template <cuda::thread_scope Scope>
class Flag {
  using Ref = cuda::atomic_ref<unsigned, Scope>;
  Ref flag_;

 public:
  __device__ explicit Flag(unsigned* at) : flag_(*at) {}
  __device__ void raise(unsigned value) { flag_.store(value, kPublishes); }
  __device__ void await() const {
    while (flag_.load(kSees) == 0) {
    }
  }
};

__global__ void __launch_bounds__(32) chain(const float* in, float* out, float* parts, unsigned* flags) {
  const int block = blockIdx.x;
  float sum = in[block * 32 + threadIdx.x];
  if (threadIdx.x == 0) {
    Flag<kWho> own(flags + block);
    if (block > 0) {
      Flag<kWho> before{flags + block - 1};
      before.await();
      sum += parts[block - 1];
    }
    parts[block] = sum;
    own.raise(1);
    out[block] = sum;
  }
}
