// fault: "bar_make(&ready[s], 32);" => "bar_make(&ready[s], 1);"
// fault: "\"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];\"" => "\"cp.async.mbarrier.arrive.shared::cta.b64 [%0];\""
// fault: "        bar_wait(&ready[turn.s], turn.p);\n" => ""
#include <cstdint>
#include <cuda_runtime.h>
// Lists of numbers, each of a length of its own: one warp fetches with cp.async what three others read, the last part of a list is ragged.
constexpr int kRing = 5, kStages = 5, kReaders = 3;
struct Turn {
  int s = 0;
  uint32_t p = 0;
  __device__ void next() {
    ++s;
    if (s == kRing) { s = 0; p ^= 1; }
  }
};
__device__ __forceinline__ uint32_t sa(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void bar_make(uint64_t* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sa(b)), "r"(n)); }
__device__ __forceinline__ void bar_arrive(uint64_t* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sa(b)) : "memory"); }
__device__ __forceinline__ void bar_wait(uint64_t* b, uint32_t p) {
  asm volatile(
      "{\n"
      ".reg .pred       P1;\n"
      "LAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1 bra DONE;\n"
      "bra LAB_WAIT;\n"
      "DONE:\n"
      "}" ::"r"(sa(b)), "r"(p) : "memory");
}
__global__ void __launch_bounds__(128) ragged(const float* const* lists, const int* lengths, float* out, int count) {
  __shared__ alignas(16) float part[kStages][128];
  __shared__ alignas(8) uint64_t ready[kStages], freed[kStages];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  if (threadIdx.x == 0)
    for (int s = 0; s < kStages; ++s) {
      bar_make(&ready[s], 32);
      bar_make(&freed[s], kReaders);
    }
  __syncthreads();  // made
  Turn turn;
  if (warp == kReaders) {
    for (int l = blockIdx.x; l < count; l += gridDim.x) {
      const int n = lengths[l];
      const float* list = lists[l];
      for (int k = 0; k < n; k += 32 * 4) {  // fetch
        bar_wait(&freed[turn.s], turn.p ^ 1);
        const int left = max(0, min(4, n - k - lane * 4)) * 4;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(sa(&part[turn.s][lane * 4])), "l"(list + k + (left ? lane * 4 : 0)), "r"(left) : "memory");
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(sa(&ready[turn.s])) : "memory");
        turn.next();
      }
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
  } else {
    for (int l = blockIdx.x; l < count; l += gridDim.x) {
      const int n = lengths[l];
      if (n <= 0) continue;  // nothing to read
      float x = 0.f;
      for (int k = 0; k < n; k += 32 * 4) {
        bar_wait(&ready[turn.s], turn.p);
        for (int i = lane; i < 128; i += 32) x += part[turn.s][i] * (warp + 1);
        __syncwarp();  // read by all lanes
        if (lane == 0) bar_arrive(&freed[turn.s]);
        turn.next();
      }
      for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(~0u, x, d);
      if (lane == 0) out[l * kReaders + warp] = x;
    }
  }
}
void go(const float* const* lists, const int* lengths, float* out, int n) { ragged<<<132, 128>>>(lists, lengths, out, n); }
