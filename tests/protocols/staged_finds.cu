// fault: "    meet(); // all finds are staged\n" => ""
// fault: "    meet(); // the place is known\n" => ""
// What atomic operations give is an index and nothing else: threads that use it as such tell each other nothing by it.
__device__ __forceinline__ void meet() { asm volatile("bar.sync 1, 128;" ::: "memory"); }
__global__ void __launch_bounds__(160) sieve(const unsigned* in, int tiles, unsigned mask, unsigned* out, unsigned* total) {
  __shared__ unsigned finds[2][128], staged[2], base[2];
  if (threadIdx.x < 2) staged[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x >= 128) return;
  const unsigned me = threadIdx.x;
  unsigned half = 0;
  for (int t = blockIdx.x; t < tiles; t += gridDim.x, half ^= 1) {
    const unsigned value = in[t * 128 + me];
    finds[half][atomicAdd(&staged[half], 1u)] = value & mask;
    meet(); // all finds are staged
    if (me == 0) {
      base[half] = atomicAdd(total, staged[half]);
      staged[half ^ 1] = 0;
    }
    meet(); // the place is known
    for (unsigned i = me; i < staged[half]; i += 128) out[base[half] + i] = finds[half][i];
  }
}
