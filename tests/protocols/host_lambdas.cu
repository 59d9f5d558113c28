// fault: "  wait_for<0>(); // by a tag\n" => ""
// fault: "  wait_for<0>(); // by a template\n" => ""
// fault: "  wait_for<0>(); // by a function\n" => ""
// fault: "  wait_for<0>(); // by two conditions\n" => ""
// fault: "  wait_for<0>(); // by a pack\n" => ""
#include <cstdint>
#include <type_traits>
#include <utility>

__device__ __forceinline__ void copy16(float* to, const float* from) {
  const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void wait_for() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

template <int Width>
__global__ void by_tag(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  if (threadIdx.x < 32) copy16(tile + threadIdx.x * Width, in + threadIdx.x * Width);
  commit();
  wait_for<0>(); // by a tag
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

template <class T, bool kReverse>
__global__ void by_template(const T* in, T* out) {
  __shared__ alignas(16) T tile[128];
  if (threadIdx.x < 32) copy16(tile + threadIdx.x * 4, in + threadIdx.x * 4);
  commit();
  wait_for<0>(); // by a template
  __syncthreads();
  out[threadIdx.x] = tile[kReverse ? 127 - threadIdx.x : threadIdx.x];
}

template <int Width>
__global__ void by_function(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  if (threadIdx.x < 32) copy16(tile + threadIdx.x * Width, in + threadIdx.x * Width);
  commit();
  wait_for<0>(); // by a function
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

template <bool kReverse, bool kPlain>
__global__ void by_conditions(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  if (threadIdx.x < 32) copy16(tile + threadIdx.x * 4, in + threadIdx.x * 4);
  commit();
  wait_for<0>(); // by two conditions
  __syncthreads();
  out[threadIdx.x] = tile[kReverse || kPlain ? 127 - threadIdx.x : threadIdx.x];
}

template <int Width>
__global__ void by_pack(const float* in, float* out) {
  __shared__ alignas(16) float tile[128];
  if (threadIdx.x < 32) copy16(tile + threadIdx.x * Width, in + threadIdx.x * Width);
  commit();
  wait_for<0>(); // by a pack
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

#define WITH(condition, NAME, ...)         \
  [&] {                                    \
    if (condition) {                       \
      constexpr static bool NAME = true;   \
      return __VA_ARGS__();                \
    } else {                               \
      constexpr static bool NAME = false;  \
      return __VA_ARGS__();                \
    }                                      \
  }()

template <class F>
void with_width(int width, F&& f) {
  switch (width) {
    case 4: std::forward<F>(f)(std::integral_constant<int, 4>{}); break;
    default: break;
  }
}

template <int... Widths>
void any_of(std::integer_sequence<int, Widths...>, int width, const float* in, float* out) {
  ([&] { if (width == Widths) by_pack<Widths><<<1, 128>>>(in, out); }(), ...);
}

void launch(int width, bool reverse, bool plain, const float* in, float* out) {
  auto run = [&](auto tag) {
    constexpr int kWidth = decltype(tag)::value;
    by_tag<kWidth><<<1, 128>>>(in, out);
  };
  if (width == 4) run(std::integral_constant<int, 4>{});
  auto typed = [&]<class T>() {
    by_template<T, true><<<1, 128>>>(reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out));
  };
  typed.template operator()<float>();
  with_width(width, [&](auto n) { by_function<n.value><<<1, 128>>>(in, out); });
  WITH(reverse, kReverse, [&] {
    WITH(plain, kPlain, [&] { by_conditions<kReverse && !kPlain, kPlain><<<1, 128>>>(in, out); });
  });
  any_of(std::integer_sequence<int, 4>{}, width, in, out);
}
