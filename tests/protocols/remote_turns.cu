// fault: "while (!passed(&full[turn & 1], turn >> 1 & 1)) {} // the peer's row is there" => ""
// fault: "turn >> 1 & 1)" => "turn & 1)"
// fault: "    if (t == 0) expect(&full[turn & 1], 512); // of 128 threads\n" => ""
// fault: "  asm volatile(\"barrier.cluster.wait.acquire.aligned;\" ::: \"memory\"); // objects of both\n" => ""
// Two blocks send each other rows, in two places by turns: who gets the next row knows that the last one was read.
__device__ unsigned place(const void* of) { return (unsigned)__cvta_generic_to_shared(of); }
__device__ unsigned there(unsigned own, unsigned rank) {
  unsigned other;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(own), "r"(rank));
  return other;
}
__device__ void expect(unsigned long long* object, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" : : "r"(place(object)), "r"(bytes) : "memory");
}
__device__ bool passed(unsigned long long* object, int parity) {
  int is;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
               : "=r"(is) : "r"(place(object)), "r"(parity) : "memory");
  return is;
}
__global__ void __cluster_dims__(2) __launch_bounds__(128) rows(const float* in, float* out, int turns) {
  __shared__ alignas(16) float row[2][128];
  __shared__ unsigned long long full[2];
  const int t = threadIdx.x;
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (t == 0) {
    for (int i = 0; i < 2; i++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(place(&full[i])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); // objects of both
  float own = in[blockIdx.x * 128 + t];
  for (int turn = 0; turn < turns; turn++) {
    if (t == 0) expect(&full[turn & 1], 512); // of 128 threads
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                 : : "r"(there(place(&row[turn & 1][t]), rank ^ 1)), "r"(__float_as_int(own)), "r"(there(place(&full[turn & 1]), rank ^ 1)) : "memory");
    while (!passed(&full[turn & 1], turn >> 1 & 1)) {} // the peer's row is there
    own += row[turn & 1][127 - t];
  }
  out[blockIdx.x * 128 + t] = own;
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
