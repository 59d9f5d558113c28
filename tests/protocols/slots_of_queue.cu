// fault: "    slot.row = row;\n    __threadfence(); // put\n" => "    slot.row = row;\n"
// fault: "    slot.row = row;\n    __threadfence(); // put\n    slot.turn = own + 1;" => "    __threadfence(); // put\n    slot.turn = own + 1;\n    slot.row = row;"
// fault: "    __threadfence(); // seen\n" => ""
// fault: "    const int row = slot.row;\n    __threadfence(); // taken\n    slot.turn = own + SLOTS;" => "    slot.turn = own + SLOTS;\n    const int row = slot.row;"
// fault: "  volatile unsigned turn;" => "  unsigned turn;"
// A queue between blocks in one object: a slot says whose turn it is.
#include <cuda_runtime.h>
constexpr unsigned SLOTS = 16;
struct Slot {
  volatile unsigned turn;
  int row;
};
struct Rows {
  unsigned taken, given;
  Slot slots[SLOTS];
  __device__ void put(int row) {
    const unsigned own = atomicAdd(&given, 1u);
    Slot& slot = slots[own % SLOTS];
    while (slot.turn != own) {
    }
    __threadfence();
    slot.row = row;
    __threadfence(); // put
    slot.turn = own + 1;
  }
  __device__ int take() {
    const unsigned own = atomicAdd(&taken, 1u);
    Slot& slot = slots[own % SLOTS];
    // Somebody has put a row there.
    while (slot.turn != own + 1) {
    }
    __threadfence(); // seen
    const int row = slot.row;
    __threadfence(); // taken
    slot.turn = own + SLOTS;
    return row;
  }
};
__global__ void __launch_bounds__(32) pass_rows(Rows* rows, const int* in, int* out, int n) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    for (int i = 0; i < n; i++) rows->put(in[i]);
  } else {
    for (int i = blockIdx.x - 1; i < n; i += gridDim.x - 1) out[i] = rows->take();
  }
}
