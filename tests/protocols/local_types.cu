// fault: "    wait_for<Policy::depth - 2>();\n" => "    wait_for<2>();\n"
// fault: "    __syncthreads();\n" => ""

// Two kernels that call different types by one name.
template <int N> struct Depth { static constexpr int depth = N; };
template <int D> __device__ void wait_for() { asm volatile("cp.async.wait_group %0;" ::"n"(D) : "memory"); }
template <int T>
__global__ void __launch_bounds__(T) one(const float4* in, float4* out, int n) {
  using Policy = Depth<3>;
  __shared__ float4 ring[3][T];
  auto fetch = [&](int s, int p) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(&ring[s][threadIdx.x])), "l"(in + p * T + threadIdx.x) : "memory"); };
  for (int s = 0; s < Policy::depth - 1; ++s) { if (s < n) fetch(s, s); asm volatile("cp.async.commit_group;" ::: "memory"); }
  for (int p = 0; p < n; ++p) {
    wait_for<Policy::depth - 2>();
    __syncthreads();
    out[p * T + threadIdx.x] = ring[p % Policy::depth][T - 1 - threadIdx.x];
    if (p + Policy::depth - 1 < n) fetch((p + Policy::depth - 1) % Policy::depth, p + Policy::depth - 1);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
}
__global__ void two(float* a) { using Policy = Depth<7>; a[threadIdx.x] = Policy::depth; }
void launch(const float4* in, float4* out, int n) { one<128><<<1, 128>>>(in, out, n); }
