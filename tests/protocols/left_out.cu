// fault: "wait(box.full[turn % 2], turn / 2 % 2);" => "wait(box.full[turn % 2], turn % 2);"
// fault: "    arrive(box.empty[slot]);\n" => ""
// fault: "  __syncthreads();  // both are there\n" => ""
// An object with a reference is made of a list that leaves its other members out.
#include <cstdint>
struct Box {
  uint64_t full[2], empty[2];
  int value[2];
};
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void arrive(uint64_t& b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(&b)) : "memory"); }
__device__ void wait(uint64_t& b, unsigned parity) {
  unsigned done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(at(&b)), "r"(parity) : "memory");
}
struct Reader {
  Box& box;
  int turn = 0;
  int last;
  __device__ int take() {
    const int slot = turn % 2;
    wait(box.full[turn % 2], turn / 2 % 2);
    const int value = box.value[slot];
    arrive(box.empty[slot]);
    ++turn;
    last = value;
    return value;
  }
};
__global__ void __launch_bounds__(64) handed(int* out) {
  __shared__ Box box;
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; ++i) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&box.full[i])) : "memory");
      asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at(&box.empty[i])) : "memory");
    }
  __syncthreads();  // both are there
  if (threadIdx.x == 0) {
    for (int turn = 0; turn < 8; ++turn) {
      wait(box.empty[turn % 2], (turn / 2 + 1) % 2);
      box.value[turn % 2] = turn;
      arrive(box.full[turn % 2]);
    }
  } else if (threadIdx.x >= 32) {
    Reader reader{box};
    int sum = 0;
    for (int turn = 0; turn < 8; ++turn) sum += reader.take();
    out[threadIdx.x - 32] = sum + reader.last;
  }
}
