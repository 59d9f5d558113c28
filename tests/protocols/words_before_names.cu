// fault: "wait_group<0>();" => ""
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
__device__ __forceinline__ void copy16(void *d, const void *s) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(d)), "l"(s) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait_group() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// names of namespaces and types in functions, and enumerations of bytes
namespace parts { inline namespace v1 { namespace detail {
enum class Kind : uint8_t { load, store };
struct Step { Kind kind; uint8_t rest[3]; int by; };
static_assert(sizeof(Step) == 8, "");
__device__ Step step() { return {Kind::load, {0, 0, 0}, 4}; }
} } }
__global__ void __launch_bounds__(64) rows(const float *in, float *out, int n) {
  __shared__ alignas(16) float tile[256];
  namespace own = parts::v1::detail;
  own::Step by = own::step();
  struct Local { int first; };
  struct Local start = {0};
  const int all[] = {start.first, by.by};
  copy16(tile + threadIdx.x * all[1] + all[0], in + threadIdx.x * sizeof(own::Step) / 2);
  commit();
  wait_group<0>();
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = tile[255 - threadIdx.x * 4];
}
void launch(const float *a, float *b) { rows<<<4, 64>>>(a, b, 3); }
