// fault: "barrier.sync %0, 64;" => "barrier.sync %0, 128;"
// fault: "      step(best, t, apart);\n      meet(1 + t / 64); // of two warps" => "      step(best, t, apart);\n      if (t % 64 < 32) meet(1 + t / 64);"
// Two warps each keep the larger one of two numbers, before all threads do.
__device__ void meet(int barrier) { asm volatile("barrier.sync %0, 64;" : : "r"(barrier) : "memory"); }
__device__ void step(int* best, int t, int apart) {
  if (t % (2 * apart) < apart && best[t] < best[t + apart]) best[t] = best[t + apart];
}
__global__ void __launch_bounds__(256) largest(const int* in, int* out, int n) {
  __shared__ int best[256];
  const int t = threadIdx.x;
  int own = in[blockIdx.x * 256 + t];
  if (own < 0) own = -own;
  best[t] = own;
  __syncthreads();
  for (int turn = 0; turn < n; turn++) {
    for (int apart = 1; apart < 64; apart *= 2) {
      step(best, t, apart);
      meet(1 + t / 64); // of two warps
    }
  }
  __syncthreads();
  if (t == 0) out[blockIdx.x] = max(max(best[0], best[64]), max(best[128], best[192]));
}
