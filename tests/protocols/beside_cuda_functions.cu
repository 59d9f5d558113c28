// fault: "  wait_all(); // before the sum\n" => ""
// fault: "  wait_all(); // before the element\n" => ""
#include <cstdint>

// As `helper_math.h` has them, beside those of CUDA with the same names.
inline __host__ __device__ float4 make_float4(float all) { return make_float4(all, all, all, all); }
inline __host__ __device__ float3 make_float3(float4 of) { return make_float3(of.x, of.y, of.z); }
inline __device__ float2 fminf(float2 a, float2 b) { return make_float2(fminf(a.x, b.x), fminf(a.y, b.y)); }
inline __host__ __device__ float3 operator*(float by, float3 of) {
  return make_float3(by * of.x, by * of.y, by * of.z);
}
inline __host__ __device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__device__ __forceinline__ void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from)
               : "memory");
}
__device__ __forceinline__ void wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

__global__ void sums(const float4* in, float* out) {
  __shared__ float4 tile[128];
  copy16(&tile[threadIdx.x], &in[threadIdx.x]);
  float4 sum = make_float4(0.0f);
  wait_all(); // before the sum
  __syncthreads();
  const float4 other = tile[127 - threadIdx.x];
  const float2 least = fminf(make_float2(other.x, other.y), make_float2(sum.x, fminf(sum.y, 1.0f)));
  out[threadIdx.x] = dot(2.0f * make_float3(other), make_float3(least.x, least.y, sum.z));
}

// Shared memory as the samples of CUDA have it: an object that gives a pointer.
template <class T>
struct SharedMemory {
  __device__ inline operator T*() {
    extern __shared__ int all_of_it[];
    return (T*)all_of_it;
  }
};

__global__ void elements(const float4* in, float4* out) {
  SharedMemory<float4> tile;
  copy16(&tile[threadIdx.x], &in[threadIdx.x]);
  wait_all(); // before the element
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

void launch(const float4* in, float* out, float4* all) {
  sums<<<1, 128>>>(in, out);
  elements<<<1, 128, 128 * sizeof(float4)>>>(in, all);
}
