// fault: "    full[slot].wait(std::move(tokens[slot]));\n" => ""
// fault: "init(&full[i], 128);" => "init(&full[i], 1);"
// fault: "    block.sync();  // all have read\n" => ""
// fault: "  block.sync();  // the objects are there\n" => ""
// A thread copies as much as it likes with one call, and a lambda gives the token of the arrival that follows.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <utility>
using barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void __launch_bounds__(128) reversed(const float* in, float* out, int n) {
  __shared__ alignas(16) float rows[2][1024];
  __shared__ barrier full[2];
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() == 0)
    for (int i = 0; i < 2; ++i) init(&full[i], 128);
  block.sync();  // the objects are there
  auto request = [&](int row, int slot) -> barrier::arrival_token {
    if (threadIdx.x == 0)
      cuda::memcpy_async(rows[slot], in + row * 1024, cuda::aligned_size_t<16>(sizeof(float) * 1024), full[slot]);
    return full[slot].arrive();
  };
  barrier::arrival_token tokens[2];
  tokens[0] = request(0, 0);
  for (int row = 0; row < n; ++row) {
    const int slot = row & 1;
    if (row + 1 < n) tokens[slot ^ 1] = request(row + 1, slot ^ 1);
    full[slot].wait(std::move(tokens[slot]));
    for (int i = 0; i < 8; ++i) out[row * 1024 + i * 128 + threadIdx.x] = rows[slot][1023 - i * 128 - threadIdx.x];
    block.sync();  // all have read
  }
}
