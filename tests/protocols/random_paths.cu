// fault: "    while (!is_done(&full, phase)) {}\n" => ""
// fault: "TileBytes = sizeof(Row) * Rows" => "TileBytes = sizeof(Row)"
// fault: "  __syncthreads(); // the sums\n" => ""
#include <cstdint>
#include <curand_kernel.h>
#include <cuda/std/functional>

// Words of a row, or what is in them.
template <class T, int N>
struct Lanes {
  using Words = union {
    uint4 whole;
    T each[N];
  };
  Words words;
};
union Step {
  struct __align__(8) {
    float drift;
    float spread;
  };
  unsigned long long both;
};
struct Best {
  union {
    struct {
      int path;
      float value;
    };
    long long packed;
  };
};

struct Shape {
  using Row = Lanes<float, 4>;
  static constexpr int Rows = 64;
  static constexpr uint32_t TileBytes = sizeof(Row) * Rows;
};

__device__ uint32_t address(const void* of) { return (uint32_t)__cvta_generic_to_shared(of); }
__device__ bool is_done(uint64_t* bar, uint32_t phase) {
  uint32_t done;
  asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(address(bar)), "r"(phase)
               : "memory");
  return done;
}

template <class Shape>
__global__ void __launch_bounds__(128) paths(const typename Shape::Row* in, float* out, curandState* states, int rounds) {
  __shared__ alignas(128) typename Shape::Row tile[Shape::Rows];
  __shared__ Best best[4];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  curandState state = states[blockIdx.x * 128 + threadIdx.x];
  curandStatePhilox4_32_10_t other;
  curand_init(7, threadIdx.x, 0, &other);
  Best own = {int(threadIdx.x), 0.0f};
  uint32_t phase = 0;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address(&full)), "r"(Shape::TileBytes)
                   : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(
              address(tile)),
          "l"(in + round * Shape::Rows), "r"(address(&full))
          : "memory");
    }
    while (!is_done(&full, phase)) {}
    Step step;
    step.drift = tile[threadIdx.x % Shape::Rows].words.each[threadIdx.x / Shape::Rows];
    step.spread = 0.2f;
    const float4 more = curand_uniform4(&other);
    own.value += step.drift + step.spread * curand_normal(&state) + more.x;
    if (isinf(own.value)) own.packed = 0;
    phase ^= 1;
    __syncthreads();
  }
  states[blockIdx.x * 128 + threadIdx.x] = state;
  if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = own;
  __syncthreads(); // the sums
  auto value_of = [&](int warp) { return best[warp].value; };
  if (threadIdx.x == 0) out[blockIdx.x] = cuda::std::invoke(value_of, 1) + best[2].value;
}

void launch(const Shape::Row* in, float* out, curandState* states, int rounds) {
  paths<Shape><<<132, 128>>>(in, out, states, rounds);
}
