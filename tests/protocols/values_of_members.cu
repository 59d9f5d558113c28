// fault: "        wait(&box.empty[at.stage], at.parity ^ 1);\n" => ""
// fault: "      wait(&box.full[at.stage], at.parity);\n" => ""
// fault: "uint32_t parity{0};" => "uint32_t parity{1};"
// fault: "box.open((kThreads - Box::kRow) / 32);" => "box.open(kThreads - Box::kRow);"
// Members that begin with what their structures say, constants of types in arithmetic, and a launch that a macro writes.
#include <cstdint>
#include <cuda_runtime.h>
template <class T, class U> struct Both { T one; U other; };
template <int kStages_, int kRow_>
struct Channel {
  static constexpr int kStages = kStages_, kRow = kRow_;
  alignas(128) float rows[kStages][kRow];
  uint64_t full[kStages], empty[kStages];
  struct Cursor {
    int stage{0};
    uint32_t parity{0};
    __device__ void operator++(int) { if (++stage == (kStages)) { stage = 0; parity ^= 1u; } }
  };
  __device__ void open(int users) {
    for (int s = 0; s < kStages; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"((uint32_t)__cvta_generic_to_shared(&full[s])));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"((uint32_t)__cvta_generic_to_shared(&empty[s])), "r"(users));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
};
__device__ inline void wait(uint64_t* b, uint32_t phase) {
  asm volatile("{\n.reg .pred P1;\nW:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra D;\nbra W;\nD:\n}\n" ::"r"((uint32_t)__cvta_generic_to_shared(b)), "r"(phase) : "memory");
}
template <class Box>
struct Writer {
  Box& box;
  const float* from;
  typename Box::Cursor at;
  __device__ Writer(Box& b, const float* f) : box(b), from(f) {}
  __device__ void write(int rows) {
    for (int r = 0; r < rows; ++r) {
        wait(&box.empty[at.stage], at.parity ^ 1);
      const uint32_t full = (uint32_t)__cvta_generic_to_shared(&box.full[at.stage]);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full), "r"((Box::kRow) * 4) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"((uint32_t)__cvta_generic_to_shared(box.rows[at.stage])), "l"(from + r * Box::kRow), "r"(512), "r"(full) : "memory");
      at++;
    }
  }
};
template <const int kThreads = 256, typename Box = Channel<2, 128>, typename Kinds = Both<Box, int>>
__global__ void __launch_bounds__(kThreads) add_rows(const float* in, float* out, int rows) {
  __shared__ Box box;
  if (threadIdx.x == 0) box.open((kThreads - Box::kRow) / 32);
  __syncthreads();
  if (threadIdx.x < (Box::kRow)) {
    if (threadIdx.x == 0) Writer<Box>(box, in).write(rows);
  } else {
    typename Box::Cursor at;
    float sum = 0.f;
    for (int r = 0; r < rows; ++r) {
      wait(&box.full[at.stage], at.parity);
      sum += box.rows[at.stage][threadIdx.x - (Box::kRow)];
      if (threadIdx.x % 32 == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"((uint32_t)__cvta_generic_to_shared(&box.empty[at.stage])) : "memory");
      at++;
    }
    out[blockIdx.x * (Box::kRow) + threadIdx.x - (Box::kRow)] = sum;
  }
}
#define LAUNCH(kernel, grid, block, ...) do { kernel<<<(grid), (block)>>>(__VA_ARGS__); } while (0)
void run(const float* in, float* out, int rows) {
  LAUNCH((add_rows<256>), 132, 256, in, out, rows);
}
