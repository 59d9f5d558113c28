// fault: "__syncthreads();  // all have read" => "// all have read"
// fault: "WAIT(ph);" => ";"
// fault: "ph = !ph;" => "ph = false;"
// fault: "EXPECT(3 * 1024);" => "EXPECT(2 * 1024);"
// fault: "for (int c = 0; c < 3; c++) COPY(c);" => "for (int c = 0; c < 2; c++) COPY(c);"
#include <cstdint>
#include <cuda.h>
#define U(p) ((unsigned)__cvta_generic_to_shared(p))
#define EXPECT(n) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(U(&b)), "n"(n) : "memory")
#define WAIT(p) asm volatile("{\n .reg .pred t;\n R: mbarrier.try_wait.parity.shared::cta.b64 t, [%0], %1;\n @!t bra R;\n}" ::"r"(U(&b)), "r"((unsigned)(p)) : "memory")
#define COPY(c) asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(U(x[c])), "l"(&m), "r"(0), "r"(i * 3 + (c)), "r"(U(&b)) : "memory")
__global__ void __launch_bounds__(128) one(const __grid_constant__ CUtensorMap m, float* out, int n) {
  __shared__ alignas(1024) float x[3][256];
  __shared__ uint64_t b;
  if (!threadIdx.x) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(U(&b)));
  __syncthreads();
  bool ph = false;
  float s = 0;
  for (int i = 0; i < n; i++) {
    if (threadIdx.x == 0) {
      EXPECT(3 * 1024);
      for (int c = 0; c < 3; c++) COPY(c);
    }
    WAIT(ph);
    ph = !ph;
    for (int c = 0; c < 3; c++) s += x[c][threadIdx.x] + x[c][255 - threadIdx.x];
    __syncthreads();  // all have read
  }
  out[threadIdx.x] = s;
}
