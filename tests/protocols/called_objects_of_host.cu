// fault: "  wait_for<0>(); // by a tag\n" => ""
// fault: "  wait_for<0>(); // by a number\n" => ""
// fault: "  wait_for<0>(); // by a type\n" => ""
#include <cstdint>

__device__ __forceinline__ void copy16(float* to, const float* from) {
  const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
template <int N>
__device__ __forceinline__ void wait_for() {
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

template <int Width>
__global__ void by_tag(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  if (threadIdx.x < 32) copy16(tile + threadIdx.x * Width, in + threadIdx.x * Width);
  wait_for<0>(); // by a tag
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

template <int Width>
__global__ void by_number(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  if (threadIdx.x < 32) copy16(tile + threadIdx.x * Width, in + threadIdx.x * Width);
  wait_for<0>(); // by a number
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

template <int Width>
__global__ void by_type(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  if (threadIdx.x < 32) copy16(tile + threadIdx.x * Width, in + threadIdx.x * Width);
  wait_for<0>(); // by a type
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

template <int N>
struct Width { static constexpr int value = N; };

// Objects that are called with what the host has chosen.
struct Launch {
  const float* in;
  float* out;
  template <class W>
  void operator()(W) const { by_tag<W::value><<<1, 128>>>(in, out); }
};
struct LaunchWith {
  template <int N>
  void operator()(const float* in, float* out) const { by_number<N><<<1, 128>>>(in, out); }
};

template <class F>
void dispatch(bool is_wide, F launch) {
  if (is_wide) launch(Width<4>{});
  else launch(Width<4>{});
}
template <class F>
void with_number(const float* in, float* out, F&& launch) { launch.template operator()<4>(in, out); }

// The type of a constant that is a parameter.
template <class W>
void launch_by_type(const float* in, float* out) { by_type<W::value><<<1, 128>>>(in, out); }

void launch(const float* in, float* out, bool is_wide) {
  dispatch(is_wide, Launch{in, out});
  LaunchWith launcher;
  with_number(in, out, launcher);
  launch_by_type<Width<4>>(in, out);
}
