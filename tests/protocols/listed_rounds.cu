// fault: "    arrive(1 + slot, 160); // the part is there\n" => "    arrive(1, 160);\n"
// fault: "    wait(1 + slot, 160); // all of the part\n" => "    wait(1 + slot, 128);\n"
// fault: "    if (at + 64 < end) arrive(3 + slot, 160); // more follows\n" => ""
// fault: "    if (at >= begin + 64) wait(3 + slot, 160);" => "    if (at > begin + 64) wait(3 + slot, 160);"
// fault: "    if (at >= begin + 64) wait(3 + slot, 160); // it was read\n" => ""
// fault: "    asm volatile(\"cp.async.wait_all;\" ::: \"memory\"); // before it is told\n" => ""
// A warp brings the parts of a row of a list, the others add them up; numbered barriers hand two places over.
__device__ void wait(int barrier, int threads) { asm volatile("barrier.sync %0, %1;" : : "r"(barrier), "r"(threads) : "memory"); }
__device__ void arrive(int barrier, int threads) { asm volatile("barrier.arrive %0, %1;" : : "r"(barrier), "r"(threads) : "memory"); }
__global__ void __launch_bounds__(160) sums(const unsigned* starts, const float* values, float* out) {
  __shared__ alignas(16) float part[2][128];
  const int begin = starts[blockIdx.x], end = starts[blockIdx.x + 1];
  if (threadIdx.x >= 128) {
    const int lane = threadIdx.x - 128;
    for (int at = begin; at < end; at += 32) {
      const int slot = (at - begin) / 32 % 2;
      if (at >= begin + 64) wait(3 + slot, 160); // it was read
      unsigned to = (unsigned)__cvta_generic_to_shared(&part[slot][4 * lane]);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(values + 4 * (at + lane)) : "memory");
      asm volatile("cp.async.wait_all;" ::: "memory"); // before it is told
      arrive(1 + slot, 160); // the part is there
    }
    return;
  }
  float sum = 0;
  for (int at = begin; at < end; at += 32) {
    const int slot = (at - begin) / 32 % 2;
    wait(1 + slot, 160); // all of the part
    sum += part[slot][threadIdx.x ^ 1];
    if (at + 64 < end) arrive(3 + slot, 160); // more follows
  }
  atomicAdd(out + blockIdx.x, sum);
}
void launch(const unsigned* starts, const float* values, float* out, int rows) {
  sums<<<rows, 160>>>(starts, values, out);
}
