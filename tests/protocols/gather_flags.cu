// fault: "\"st.release.sys.global" => "\"st.relaxed.sys.global"
#include <cstdint>
// several devices: signals of the system's scope
__device__ __forceinline__ void put_sys(uint32_t *p, uint32_t v) { asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
__device__ __forceinline__ uint32_t get_sys(const uint32_t *p) {
  uint32_t v;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
struct Peers { uint32_t *sig[8]; float *data[8]; };
__global__ void all_gather(Peers p, float *out, int rank, uint32_t epoch) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  p.data[rank][i] = out[i] * 2.f;
  __syncthreads();
  if (threadIdx.x < 8) {
    put_sys(p.sig[threadIdx.x] + blockIdx.x * 8 + rank, epoch);
    while (get_sys(p.sig[rank] + blockIdx.x * 8 + threadIdx.x) != epoch) {}
  }
  __syncthreads();
  float acc = 0;
  for (int r = 0; r < 8; ++r) acc += p.data[r][i];
  out[i] = acc;
}
