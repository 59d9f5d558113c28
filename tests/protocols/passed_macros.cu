// fault: "COPY_WAIT(0);" => "COPY_WAIT(1);"
// fault: "        MEET(0, 64); // all have read\n" => ""
// fault: "MEET(0);" => ";"

#include <cuda_runtime.h>

#define FOR_BOTH(M, ...) M(0, __VA_ARGS__) M(1, __VA_ARGS__)
#define ISSUE(i, from)                                                                           \
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(                               \
                     (unsigned)__cvta_generic_to_shared(&s[i][threadIdx.x])),                    \
                 "l"((from) + (i) * 64 + threadIdx.x));
#define COPY_WAIT(n) asm volatile("cp.async.commit_group;\n\tcp.async.wait_group " #n ";" ::: "memory")
#define CHOSEN(a, b, name, ...) name
#define MEET_ALL(id) asm volatile("bar.sync " #id ";" ::: "memory")
#define MEET_SOME(id, n) asm volatile("bar.sync " #id ", " #n ";" ::: "memory")
#define MEET(...) CHOSEN(__VA_ARGS__, MEET_SOME, MEET_ALL)(__VA_ARGS__)

__global__ void __launch_bounds__(64) sums(const float* g, float* o, int n) {
    __shared__ float s[2][64];
    for (int t = 0; t < n; ++t) {
        FOR_BOTH(ISSUE, g + t * 128)
        COPY_WAIT(0);
        MEET(0);
        float a = s[0][63 - threadIdx.x] + s[1][63 - threadIdx.x];
        o[t * 64 + threadIdx.x] = a;
        MEET(0, 64); // all have read
    }
}
