// fault: "  __pipeline_wait_prior(0);  // the halves\n" => ""
// fault: "  __syncthreads();  // the halves of all\n" => ""
// fault: "  __pipeline_wait_prior(0);  // the codes\n" => ""
// fault: "  __cluster_barrier_wait();  // the others have begun\n" => ""
// Functions of CUDA beside a copy: spaces of addresses, surfaces, numbers of 16 and of 8 bits, votes, atomic loads by pointers.
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
__device__ float put(float* to, float value) {
  if (__isShared(to)) return value;
  if (__isGlobal(to)) *to = value;
  return 0.f;
}
__global__ void __launch_bounds__(128) mixed(float* out, const __half2* in, cudaSurfaceObject_t surface, cudaTextureObject_t texture,
                                             unsigned* flag) {
  __shared__ alignas(16) __half2 halves[128];
  __shared__ alignas(16) unsigned codes[128];
  __shared__ unsigned counts[4];
  if (threadIdx.x == 0) memset(counts, 0, sizeof(counts));
  __pipeline_memcpy_async(&halves[threadIdx.x], in + threadIdx.x, sizeof(__half2));
  __pipeline_commit();
  float seen;
  surf2Dread(&seen, surface, threadIdx.x * 4, 0);
  seen += tex2D<float>(texture, 1.f, 2.f);
  int alike;
  const unsigned same = __match_all_sync(~0u, threadIdx.x & 96, &alike);
  __pipeline_wait_prior(0);  // the halves
  __syncthreads();  // the halves of all
  const __half2 other = h2exp(__hmul2(halves[threadIdx.x ^ 64], halves[threadIdx.x ^ 32]));
  const __half first = hsqrt(__low2half(other));
  unsigned known;
  __nv_atomic_load(flag, &known, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_add(flag + 1, known & 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __pipeline_memcpy_async(&codes[threadIdx.x], flag + 4 + threadIdx.x, sizeof(unsigned));
  __pipeline_commit();
  const __nv_fp8_storage_t code = __nv_cvt_float_to_fp8(__half2float(first), __NV_SATFINITE, __NV_E4M3);
  int exponent;
  const float part = frexpf(seen, &exponent);
  __pipeline_wait_prior(0);  // the codes
  __syncthreads();
  out[blockIdx.x * 128 + ullmin(threadIdx.x, 127ull)] = put(out + 65536 + threadIdx.x, part) + codes[threadIdx.x ^ 64] + code + (same & 1) + counts[threadIdx.x & 3];
}
__global__ void __cluster_dims__(2) __launch_bounds__(128) counted(unsigned* out) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __cluster_barrier_arrive();
  __cluster_barrier_wait();  // the others have begun
  auto* first = static_cast<unsigned*>(__cluster_map_shared_rank(&sum, 0));
  if (threadIdx.x == 0) atomicAdd(first, __clusterRelativeBlockRank() + __clusterDim().x);
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  if (threadIdx.x == 0 && __clusterRelativeBlockIdx().x == 0) out[__clusterIdx().x] = sum;
}
void launch(float* p, unsigned* u, cudaSurfaceObject_t s, cudaTextureObject_t t) {
  mixed<<<4, 128>>>(p, reinterpret_cast<const __half2*>(p), s, t, u);
  counted<<<4, 128>>>(u);
}
