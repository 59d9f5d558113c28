// fault: "named_sync(2 + wg, 256);" => "named_sync(2 + wg, 128);"
// fault: "    named_arrive(3 - wg, 256);  // the other's turn\n" => ""
// fault: "    named_sync(2 + wg, 256);  // my turn\n" => ""
// fault: "  if (wg == 1) named_arrive(2, 256);\n" => ""
// fault: "    fence_async();\n" => ""
// fault: "    named_sync(4 + wg, 128);  // tile of my group\n" => ""
// fault: "named_sync(4 + wg, 128);  // tile of my group" => "named_sync(4, 128);"
// fault: "      store_wait();  // my last tile\n" => ""
// fault: "    named_sync(6 + wg, 128);  // may be written\n" => ""
#include <cstdint>

__device__ __forceinline__ void named_sync(int id, int n) { asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }
__device__ __forceinline__ void named_arrive(int id, int n) { asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void store_wait() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// Two groups take tiles in turn: the sums of one use the state that the other has left.
__global__ void __launch_bounds__(256) in_turn(const float* in, float* out, int tiles) {
  __shared__ alignas(128) float tile[2][128];
  __shared__ float state[128];
  const int wg = threadIdx.x / 128, me = threadIdx.x % 128;
  if (wg == 0) state[me] = 0.f;
  __syncthreads();
  if (wg == 1) named_arrive(2, 256);
  for (int t = wg; t < tiles; t += 2) {
    const float x = in[t * 128 + me];
    named_sync(2 + wg, 256);  // my turn
    const float y = state[127 - me] * .5f + x;
    named_sync(8 + wg, 128);  // all have read
    state[me] = y;
    named_arrive(3 - wg, 256);  // the other's turn
    if (me == 0) {
      store_wait();  // my last tile
    }
    named_sync(6 + wg, 128);  // may be written
    tile[wg][me] = y;
    fence_async();
    named_sync(4 + wg, 128);  // tile of my group
    if (me == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;\ncp.async.bulk.commit_group;" ::"l"(out + t * 128),
                   "r"(uint32_t(__cvta_generic_to_shared(tile[wg]))) : "memory");
    }
  }
  if (wg == 0 && tiles % 2 == 0) named_sync(2, 256);
  if (wg == 1 && tiles % 2 == 1) named_sync(3, 256);
  if (me == 0) store_wait();
}
