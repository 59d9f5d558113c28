// fault: "    asm volatile(\"cp.async.wait_group 1;\" ::: \"memory\");\n" => "    asm volatile(\"cp.async.wait_group 2;\" ::: \"memory\");\n"
// fault: "    __syncthreads();  // all have waited\n" => ""
// fault: "    __syncthreads();  // all have read\n" => ""
// Structures whose names stand after their bodies, in a file, in a structure and in a function.
#include <cuda_runtime.h>
#include <cstdint>

typedef enum { FIRST = 1, ROUNDS = 2 } Steps;

typedef struct {
  typedef struct { float at[128]; } Row;
  Row rows[ROUNDS];
  float all;
} Staging, *StagingAt;

static __device__ __forceinline__ void bring(float* to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
               ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

__global__ void __launch_bounds__(128) smoothed(const float* in, float* out, int n) {
  __shared__ Staging staging;
  typedef struct { int own, next; } Turns;
  StagingAt at = &staging;
  Turns turns = {(int)threadIdx.x, 0};
  bring(&at->rows[0].at[turns.own], in + turns.own);
  asm volatile("cp.async.commit_group;" ::: "memory");
  float sum = 0.f;
  for (int i = 0; i < n; ++i) {
    turns.next = i + FIRST;
    if (turns.next < n) bring(&at->rows[turns.next & 1].at[turns.own], in + turns.next * 128 + turns.own);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();  // all have waited
    sum += at->rows[i & 1].at[127 - turns.own];
    __syncthreads();  // all have read
  }
  out[turns.own] = sum;
}
