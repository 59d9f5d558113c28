// fault: "\"n\"(kShort.stages - 1)" => "\"n\"(kShort.stages)"
// fault: "            asm volatile(\"bar.arrive %0, 128;\" ::\"n\"(id.empty) : \"memory\");\n" => ""
// fault: "        asm volatile(\"bar.sync 3, 64;\" ::: \"memory\"); // all have read\n" => ""

#include <cuda_runtime.h>

struct Shape {
    int stages;
    int tile;
    constexpr Shape with(int s) const {
        Shape copy = *this;
        copy.stages = s;
        return copy;
    }
};
constexpr Shape kLong{.stages = 4, .tile = 64};
constexpr Shape kShort = kLong.with(2);

struct Ids {
    int full, empty;
};
__device__ constexpr Ids ids() {
    Ids all{};
    all.full = 1;
    all.empty = all.full + 1;
    return all;
}

template <Shape S>
__global__ void __launch_bounds__(S.tile * 2) tiles(const float* g, float* o, int n) {
    __shared__ float s[S.stages][S.tile];
    __shared__ float sum[S.tile];
    constexpr Ids id = ids();
    const int i = threadIdx.x % S.tile;
    if (threadIdx.x >= S.tile) {
        for (int t = 0; t < n; ++t) {
            asm volatile("bar.sync %0, 128;" ::"n"(id.full) : "memory");
            o[t * S.tile + i] = sum[S.tile - 1 - i];
            asm volatile("bar.arrive %0, 128;" ::"n"(id.empty) : "memory");
        }
        return;
    }
    auto put = [&](int t) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.commit_group;" ::"r"(
                         (unsigned)__cvta_generic_to_shared(&s[t % S.stages][i])),
                     "l"(g + t * S.tile + i));
    };
    put(0);
    for (int t = 0; t < n; ++t) {
        put(t + 1);
        asm volatile("cp.async.wait_group %0;" ::"n"(kShort.stages - 1));
        asm volatile("bar.sync 3, 64;" ::: "memory");
        float x = s[t % S.stages][S.tile - 1 - i];
        if (t > 0) asm volatile("bar.sync %0, 128;" ::"n"(ids().empty) : "memory");
        sum[i] = x;
        asm volatile("bar.arrive %0, 128;" ::"n"(1) : "memory");
        asm volatile("bar.sync 3, 64;" ::: "memory"); // all have read
    }
    asm volatile("bar.sync %0, 128;" ::"n"(id.empty) : "memory");
}

void launch(const float* g, float* o) { tiles<kShort><<<1, kShort.tile * 2>>>(g, o, 9); }
