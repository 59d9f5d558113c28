// fault: "    if (threadIdx.x == 0) {\n      __threadfence_system(); // row\n" => "    if (threadIdx.x == 0) {\n"
// fault: "    __syncthreads(); // row of all\n" => ""
// fault: "    __syncthreads(); // row is here\n" => ""
// Each device tells the next one the number of the round, and waits for the same number.
#include <cuda_runtime.h>
struct Next {
  float* row[2];
  volatile int* round;
};
__global__ void __launch_bounds__(128) rounds(float* own, float* other, Next next, volatile int* told, int rows, int width, int n) {
  for (int round = 1; round <= n; round++) {
    for (int i = threadIdx.x; i < width; i += 128) next.row[round & 1][i] = own[width + i];
    __syncthreads(); // row of all
    if (threadIdx.x == 0) {
      __threadfence_system(); // row
      *next.round = round;
      while (*told < round) {
      }
      __threadfence_system();
    }
    __syncthreads(); // row is here
    for (int i = threadIdx.x; i < width; i += 128) other[width + i] = 0.5f * (own[i] + own[2 * width + i]);
    __syncthreads();
    float* kept = own;
    own = other;
    other = kept;
  }
}
