// fault: "cp_wait<STAGES - 2>" => "cp_wait<STAGES - 1>"
// fault: "    cp_wait<STAGES - 2>();\n" => ""
// fault: "    __syncthreads();\n" => ""
// fault: "k + STAGES - 1;" => "k + STAGES;"
// fault: "buf[next % STAGES][tid]" => "buf[(next + 1) % STAGES][tid]"

#define CP_ASYNC(dst, src) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src))
#define CP_COMMIT() asm volatile("cp.async.commit_group;")

template <int N>
__device__ void cp_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N));
}

// A ring whose copies are conditional and whose groups are not.
template <int STAGES>
__global__ void pipe(const float4* in, float4* out, int n) {
  __shared__ float4 buf[STAGES][128];
  int tid = threadIdx.x;
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) {
    unsigned d = __cvta_generic_to_shared(&buf[s][tid]);
    if (s < n) CP_ASYNC(d, in + s * 128 + tid);
    CP_COMMIT();
  }
  for (int k = 0; k < n; k++) {
    cp_wait<STAGES - 2>();
    __syncthreads();
    float4 v = buf[k % STAGES][127 - tid];
    out[k * 128 + tid] = v;
    int next = k + STAGES - 1;
    if (next < n) {
      unsigned d = __cvta_generic_to_shared(&buf[next % STAGES][tid]);
      CP_ASYNC(d, in + next * 128 + tid);
    }
    CP_COMMIT();
  }
}

void launch(const float4* a, float4* b, int n) { pipe<4><<<1, 128>>>(a, b, n); }
