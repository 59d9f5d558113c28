// fault: "      asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n" => ""
// fault: "      asm volatile(\"cp.async.bulk.wait_group 0;\" ::: \"memory\");\n      post" => "      post"
// fault: "ld.acquire.gpu.global.u32" => "ld.relaxed.gpu.global.u32"
// fault: "(look(seen + part - 1) < band + 1)" => "(look(seen + part - 1) < band)"
// fault: "__nanosleep(32);\n      __syncthreads();" => "__nanosleep(32);\n      __syncwarp();"
// One lane writes what it alone has to fence, and stores it in bulk for the next block, which sees a flag; the input is copied in bulk
// as well, which no flag tells of.
#include <cstdint>
constexpr int COLUMNS = 64, ROWS = 32;
constexpr uint32_t INPUT = ROWS * 4;
__device__ __forceinline__ uint32_t place(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ unsigned look(const unsigned* p) {
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void post(unsigned* p, unsigned v) { asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
__device__ __forceinline__ void fetch(uint32_t to, const float* from, uint32_t bar) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(INPUT) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "n"(ROWS * 4), "r"(bar) : "memory");
}
__device__ __forceinline__ void wait(uint32_t bar, uint32_t parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN_%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN_%=;\n}" ::"r"(bar), "r"(parity) : "memory");
}
__global__ void __launch_bounds__(COLUMNS) sweep(const float* input, int bands, float* borders, unsigned* seen, float* result) {
  __shared__ alignas(128) float in[2][ROWS];
  __shared__ alignas(128) float out[ROWS];
  __shared__ float left[ROWS], wave[2][COLUMNS + 1];
  __shared__ alignas(8) uint64_t full[2];
  const int j = threadIdx.x, part = blockIdx.x;
  if (j == 0) {
    for (int s = 0; s < 2; ++s) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&full[s])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    fetch(place(in[0]), input, place(&full[0]));
  }
  __syncthreads();
  uint32_t phases = 0;
  float own = 0.f;
  for (unsigned band = 0; band < (unsigned)bands; ++band) {
    const int s = band & 1;
    if (part > 0) {
      if (j == 0) while (look(seen + part - 1) < band + 1) __nanosleep(32);
      __syncthreads();
      if (j < ROWS) left[j] = borders[(size_t(part - 1) * bands + band) * ROWS + j];
    } else if (j < ROWS) {
      left[j] = 0.f;
    }
    __syncthreads();
    if (j == 0 && band + 1 < (unsigned)bands) fetch(place(in[s ^ 1]), input + (band + 1) * ROWS, place(&full[s ^ 1]));
    wait(place(&full[s]), phases >> s & 1u);
    phases ^= 1u << s;
    for (int t = 0; t < ROWS + COLUMNS - 1; ++t) {
      const int r = t - j;
      if (r >= 0 && r < ROWS) {
        const float before = j == 0 ? left[r] : wave[t & 1][j];
        own = 0.5f * (before + own) + in[s][r];
        wave[(t + 1) & 1][j + 1] = own;
        if (j == COLUMNS - 1) out[r] = own;
      }
      __syncthreads();
    }
    if (j == COLUMNS - 1) {
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(borders + (size_t(part) * bands + band) * ROWS), "r"(place(out)), "n"(ROWS * 4) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
      post(seen + part, band + 1);
    }
  }
  result[part * COLUMNS + j] = own;
}
