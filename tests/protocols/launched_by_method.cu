// fault: "    while (flags[t].load(cuda::std::memory_order_acquire) != unsigned(State::Whole)) {\n    }\n" => ""
// fault: "    flags[t].store(unsigned(State::Whole), cuda::std::memory_order_release);" => "    flags[t].store(unsigned(State::Whole), cuda::std::memory_order_relaxed);"
// fault: "  __syncthreads();  // drawn\n" => ""
// fault: "  __syncthreads();  // carried\n" => ""

// A kernel that a method of a template launches: what its arguments are, the use of that template says.
#include <cuda/atomic>

enum class State : unsigned { Empty, Whole };

struct Chain {
  float* sums;
  cuda::atomic<unsigned, cuda::thread_scope_device>* flags;
  unsigned* next;
  __device__ void tell(int t, float v) {
    sums[t] = v;
    flags[t].store(unsigned(State::Whole), cuda::std::memory_order_release);
  }
  __device__ float before(int t) {
    while (flags[t].load(cuda::std::memory_order_acquire) != unsigned(State::Whole)) {
    }
    return sums[t];
  }
};

template <int BLOCK, int ITEMS>
__global__ void sums(const float (*in)[BLOCK * ITEMS], float* out, Chain chain, int tiles) {
  __shared__ int drawn;
  __shared__ float carried;
  if (threadIdx.x == 0) drawn = atomicAdd(chain.next, 1u);
  __syncthreads();  // drawn
  const int tile = drawn;
  if (tile >= tiles) return;
  float own = 0.f;
  for (int i = 0; i < ITEMS; ++i) own += in[tile][i * BLOCK + threadIdx.x];
  if (threadIdx.x == 0) {
    const float before = tile == 0 ? 0.f : chain.before(tile - 1);
    carried = before;
    chain.tell(tile, before + own);
  }
  __syncthreads();  // carried
  out[tile * BLOCK + threadIdx.x] = carried + own;
}

template <int B, int I>
struct Launcher {
  static void run(const float* in, float* out, Chain chain, int tiles) {
    sums<B, I><<<tiles, B>>>(reinterpret_cast<const float (*)[B * I]>(in), out, chain, tiles);
  }
};

void launch(const float* in, float* out, Chain chain, int tiles) { Launcher<128, 4>::run(in, out, chain, tiles); }
