// fault: "\n    asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\");  // of the last round" => "\n    "
// fault: "\n    asm volatile(\"cp.async.bulk.wait_group 0;\" ::: \"memory\");  // all rows" => "\n    "
// fault: "    __syncthreads();  // the rows may be written\n" => ""
// fault: "    __syncthreads();  // the rows are there\n" => ""
// fault: "    asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n" => ""
#include <cstdint>

// Four threads send a row each, which all threads write.
__global__ void __launch_bounds__(128) send_rows(const float* in, float* out, int rounds) {
  __shared__ alignas(128) float rows[4][128];
  const int me = threadIdx.x;
  for (int t = 0; t < rounds; ++t) {
    if (me < 4) {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");  // of the last round
    }


    float v[4];
    for (int r = 0; r < 4; ++r) v[r] = in[(t * 4 + r) * 128 + me];
    __syncthreads();  // the rows may be written
    for (int r = 0; r < 4; ++r) rows[r][me] = 2.f * v[r];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();  // the rows are there
    if (me < 4) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out + (t * 4 + me) * 128),
                   "r"(uint32_t(__cvta_generic_to_shared(rows[me]))) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }



  if (me < 4) {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");  // all rows
  }


  if (me == 4) out[rounds * 512] = 0.f;


}
