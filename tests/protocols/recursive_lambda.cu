// fault: "bar.sync 1, 128" => "bar.arrive 1, 128"
// fault: "    bar_sync(); // of a step\n" => ""

#include <cuda_runtime.h>

__device__ void bar_sync() { asm volatile("bar.sync 1, 128;" ::: "memory"); }

__global__ void __launch_bounds__(160) sums(const float* in, float* out, int n) {
    __shared__ float s[128];
    if (threadIdx.x >= 128) return;
    auto reduce = [&](auto&& self, int d) -> void {
        if (d == 0) return;
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    bar_sync(); // of a step
        self(self, d / 2);
    };
    for (int t = 0; t < n; ++t) {
        s[threadIdx.x] = in[t * 128 + threadIdx.x];
        bar_sync();
        reduce(reduce, 64);
        if (threadIdx.x == 0) out[t] = s[0];
        bar_sync();
    }
}
