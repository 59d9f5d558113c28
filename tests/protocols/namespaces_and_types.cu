// fault: "front::wait();" => "back::wait();"
// fault: "back::arrive();" => "front::arrive();"
namespace nb { template <int Id> struct B { static __device__ void wait() { asm volatile("bar.sync %0, 64;" :: "n"(Id) : "memory"); } static __device__ void arrive() { asm volatile("bar.arrive %0, 64;" :: "n"(Id) : "memory"); } }; }
namespace front { __device__ void wait() { nb::B<1>::wait(); } __device__ void arrive() { nb::B<1>::arrive(); } }
namespace back { __device__ void wait() { nb::B<2>::wait(); } __device__ void arrive() { nb::B<2>::arrive(); } }
__global__ void __launch_bounds__(64) k(const int* in, int* out, int n) { __shared__ int v[32]; if (threadIdx.x < 32) { for (int i = 0; i < n; ++i) { if (i > 0) ::back::wait(); v[threadIdx.x] = in[i * 32 + threadIdx.x]; ::front::arrive(); } } else { for (int i = 0; i < n; ++i) { front::wait(); out[i * 32 + threadIdx.x - 32] = v[63 - threadIdx.x]; if (i < n - 1) back::arrive(); } } }
