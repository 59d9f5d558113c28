// fault: "NamedBarrier::sync(kWgThreads, Ids::Epilogue0 + wg);" => "NamedBarrier::sync(2 * kWgThreads, Ids::Epilogue0 + wg);"
// fault: "    NamedBarrier::sync(kWgThreads, Ids::Epilogue0 + wg);\n" => ""
// fault: "NamedBarrier::sync(kWgThreads, Ids::Epilogue0 + wg);" => "NamedBarrier::sync(kWgThreads, Ids::Epilogue0);"
// fault: "NamedBarrier::arrive(kWgThreads * 2 + 32, Ids::Loaded);" => "NamedBarrier::arrive(kWgThreads * 2, Ids::Loaded);"
// fault: "    NamedBarrier::sync(kWgThreads * 2 + 32, Ids::Loaded);\n" => ""
#include <cstdint>
enum class Which : uint32_t { A = 0 };
struct Ids { enum { Loaded = 1, Epilogue0 = 2, Epilogue1 = 3 }; };
struct NamedBarrier {
  static __device__ void sync(uint32_t n, uint32_t id) { asm volatile("bar.sync %0, %1;" : : "r"(id), "r"(n)); }
  static __device__ void arrive(uint32_t n, uint32_t id) { asm volatile("bar.arrive %0, %1;" : : "r"(id), "r"(n)); }
};
constexpr int kWgThreads = 128;
__global__ void __launch_bounds__(288) k(const float* x, float* y) {
  __shared__ float stage[256];
  __shared__ float coef[32];
  if (threadIdx.x >= 256) {
    coef[threadIdx.x - 256] = x[threadIdx.x];
    NamedBarrier::arrive(kWgThreads * 2 + 32, Ids::Loaded);
  } else {
    const int wg = threadIdx.x / kWgThreads;
    NamedBarrier::sync(kWgThreads * 2 + 32, Ids::Loaded);
    float c = coef[threadIdx.x % 32];
    stage[threadIdx.x] = x[threadIdx.x] * c;
    NamedBarrier::sync(kWgThreads, Ids::Epilogue0 + wg);
    y[threadIdx.x] = stage[threadIdx.x ^ 127];
  }
}
