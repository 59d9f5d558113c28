// fault: "set_up(&bars.raw_full[i], 1);" => "set_up(&bars.raw_full[i], 32);"
// fault: "const int r = n % kRaw, rp = n / kRaw & 1;" => "const int r = n % kRaw, rp = n / kOut & 1;"
// fault: "      come(&bars.raw_empty[r]);  // checked\n" => ""
// fault: "    ++n;\n" => "    if (role != 2) ++n;\n"
#include <cstdint>
#include <cuda_runtime.h>
// One loop for all roles: load (warp 0), filter (1 and 2), store (3), check (4). Stages of two depths; tiles of a mask are left out.
constexpr int kRaw = 4, kOut = 2, kTile = 256;
struct Bars {
  uint64_t raw_full[kRaw], raw_empty[kRaw], out_full[kOut], out_empty[kOut];
};
__device__ __forceinline__ uint32_t sp(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void set_up(uint64_t* b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(sp(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void come(uint64_t* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(sp(b)) : "memory"); }
__device__ __forceinline__ bool passed(uint64_t* b, int p) {
  uint32_t r;
  asm volatile("{\n.reg .pred a;\nmbarrier.test_wait.parity.shared.b64 a, [%1], %2;\nselp.u32 %0, 1, 0, a;\n}" : "=r"(r) : "r"(sp(b)), "r"(p) : "memory");
  return r != 0;
}
__device__ __forceinline__ void stand(uint64_t* b, int p) {
  while (!passed(b, p)) __nanosleep(20);
}
__device__ __forceinline__ void async_view() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__global__ void __launch_bounds__(160) one_loop(const float* in, const unsigned char* skip, float* out, int* bad, int tiles) {
  __shared__ alignas(128) float raw[kRaw][kTile], done[kOut][kTile];
  __shared__ Bars bars;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kRaw; ++i) {
      set_up(&bars.raw_full[i], 1);
      set_up(&bars.raw_empty[i], 96);
    }
    for (int i = 0; i < kOut; ++i) {
      set_up(&bars.out_full[i], 64);
      set_up(&bars.out_empty[i], 1);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int role = warp == 0 ? 0 : warp < 3 ? 1 : warp == 3 ? 2 : 3;
  if ((role == 0 || role == 2) && lane != 0) return;
  int n = 0, wrong = 0;
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    if (skip[t]) continue;
    const int r = n % kRaw, rp = n / kRaw & 1;
    const int o = n % kOut, op = n / kOut & 1;
    ++n;
    if (role == 0) {
      stand(&bars.raw_empty[r], rp ^ 1);
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(sp(&bars.raw_full[r])) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(sp(raw[r])), "l"(in + (long long)t * kTile), "r"(sp(&bars.raw_full[r])) : "memory");
    } else if (role == 1) {
      stand(&bars.raw_full[r], rp);
      stand(&bars.out_empty[o], op ^ 1);
      const int i = threadIdx.x - 32;
      for (int x = i; x < kTile; x += 64) done[o][x] = raw[r][x] > 0.f ? raw[r][x] : 0.f;
      come(&bars.raw_empty[r]);
      async_view();
      come(&bars.out_full[o]);
    } else if (role == 2) {
      stand(&bars.out_full[o], op);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(out + (long long)t * kTile), "r"(sp(done[o])) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        come(&bars.out_empty[o]);
    } else {
      stand(&bars.raw_full[r], rp);
      for (int x = lane; x < kTile; x += 32) wrong += raw[r][x] != raw[r][x];
      come(&bars.raw_empty[r]);  // checked
    }
  }
  if (role == 3 && wrong) atomicAdd(bad, wrong);
}
void go(const float* in, const unsigned char* skip, float* out, int* bad, int tiles) { one_loop<<<264, 160>>>(in, skip, out, bad, tiles); }
