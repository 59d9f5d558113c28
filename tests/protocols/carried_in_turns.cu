// fault: "    go(\"bar.sync\", mine);  // my turn\n" => ""
// fault: "    go(\"bar.sync\", mine);  // my turn\n" => "    go(\"bar.arrive\", mine);\n"
// fault: "if (t + 1 < rounds * 2) go(\"bar.arrive\", other);  // the other's" => ";"
// fault: "  if (group == 1) go(\"bar.arrive\", 1);  // the first one begins\n" => ""
#define go(what, id) asm volatile(what " %0, 256;" ::"r"(id) : "memory")

// Two groups of threads hand on a state: what each adds to it is summed up before its turn.
__global__ void __launch_bounds__(256) carried(const float* in, float* out, int rounds, int length) {
  __shared__ float state[128];
  const int group = threadIdx.x / 128, me = threadIdx.x % 128;
  const int mine = 1 + group, other = 2 - group;
  if (group == 0) state[me] = 0.f;
  __syncthreads();
  if (group == 1) go("bar.arrive", 1);  // the first one begins
  for (int t = group; t < rounds * 2; t += 2) {
    float sum = 0.f;
    for (int i = 0; i < length; ++i) sum += in[(t * length + i) * 128 + me];
    go("bar.sync", mine);  // my turn
    const float before = state[me];
    // The state decays, the sum does not.

    const float after = before * .5f + sum;
    // Nobody else reads the state now.


    state[me] = after;


    if (t + 1 < rounds * 2) go("bar.arrive", other);  // the other's
    out[t * 128 + me] = after;
  }
}
