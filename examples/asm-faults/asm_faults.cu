#include <cstdio>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/numeric>

typedef unsigned long long u64;

// The sum of pairs of lanes, taken under a condition.
__global__ void warp_reduce(u64 *out, int condition) {
  typedef cub::WarpReduce<u64, 2> Reduce;
  __shared__ typename Reduce::TempStorage storage[16];
  u64 x = 100 + threadIdx.x;
  if (condition) x = Reduce(storage[threadIdx.x / 2]).Sum(x);
  out[threadIdx.x] = x;
}

// The larger of two pairs of 16-bit numbers, and which of the first were not smaller.
__global__ void video(unsigned *out, unsigned a, unsigned b, int condition) {
  bool high = true, low = true;
  if (condition) a = __vibmax_s16x2(a, b, &high, &low);
  out[0] = a;
  out[1] = high;
  out[2] = low;
}

__device__ unsigned __int128 rotated(unsigned __int128 x) { return (x << 64) | (x >> 64); }

__global__ void add_overflow(u64 *out, u64 high, u64 low, int n) {
  unsigned __int128 x = ((unsigned __int128)high << 64) | low;
  for (int i = 0; i < n; i++) {
    unsigned __int128 sum;
    cuda::add_overflow(sum, rotated(x), (unsigned __int128)11 << 64 | 1);
    x = sum;
  }
  out[0] = (u64)(x >> 64);
  out[1] = (u64)x;
}

#ifndef EARLY
#define EARLY ""
#endif

// The low and the high half of a product, over and over.
__global__ void halves(unsigned *out, unsigned low, unsigned high, int n) {
  for (int i = 0; i < n; i++)
    asm("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;" : "=" EARLY "r"(low), "=r"(high) : "r"(low), "r"(high));
  out[0] = low;
  out[1] = high;
}

int main() {
  u64 *wide;
  cudaMallocManaged(&wide, 4096);
  unsigned *narrow = (unsigned *)(wide + 64);
  warp_reduce<<<1, 32>>>(wide, 1);
  cudaDeviceSynchronize();
  printf("warp sums of lanes 0, 2:       %llu %llu\n", wide[0], wide[2]);
  video<<<1, 1>>>(narrow, 0x00050001, 0x00020003, 1);
  cudaDeviceSynchronize();
  printf("larger, high and low choice:   %08x %u %u\n", narrow[0], narrow[1], narrow[2]);
  add_overflow<<<1, 1>>>(wide, 10, 20, 1);
  cudaDeviceSynchronize();
  printf("sum of 128 bits:               %llu %llu\n", wide[0], wide[1]);
  halves<<<1, 1>>>(narrow, 0x80000000, 0x80000000, 1);
  cudaDeviceSynchronize();
  printf("halves of a product:           %08x %08x\n", narrow[0], narrow[1]);
  return cudaGetLastError() != cudaSuccess;
}
