// fault: "    __syncthreads(); // loaded\n" => ""
// fault: "    __syncthreads(); // stored\n" => ""
// fault: "  wait_all(); // the tile\n" => ""
#include <cstdint>
#include <cub/cub.cuh>
#include <cuda/std/complex>

constexpr int kThreads = 128, kItems = 4;

__device__ __forceinline__ void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from)
               : "memory");
}
__device__ __forceinline__ void wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

struct Largest {
  __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

// What CUB's parts share is given to the next one after all have left the last.
__global__ void __launch_bounds__(kThreads) sorted(const int* in, int* out, int* top, int tiles) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
  using Reduce = cub::BlockReduce<int, kThreads, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
  } room;
  __shared__ int4 weights[kThreads];
  copy16(&weights[threadIdx.x], in + threadIdx.x * 4);
  int most = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    int items[kItems];
    Load(room.load).Load(in + tile * kThreads * kItems, items);
    __syncthreads(); // loaded
    Sort(room.sort).Sort(items);
    __syncthreads(); // sorted
    most = max(most, Reduce(room.reduce).Reduce(items[0], Largest()));
    __syncthreads(); // reduced
    int before, all;
    Scan(room.scan).ExclusiveScan(items[1], before, 0, [](int a, int b) { return a + b; }, all);
    out[tile * kThreads + threadIdx.x] = before + all;
    __syncthreads(); // stored
  }
  if (tiles > 0) wait_all();
  if (threadIdx.x == 0) *top = most;
}

__global__ void __launch_bounds__(kThreads) turned(const cuda::std::complex<float>* in, float* out) {
  __shared__ alignas(16) cuda::std::complex<float> tile[kThreads * 2];
  copy16(&tile[threadIdx.x * 2], &in[threadIdx.x * 2]);
  wait_all(); // the tile
  __syncthreads();
  const cuda::std::complex<float> other = tile[255 - threadIdx.x], by(0.0f, 1.0f);
  const auto product = other * by + other;
  out[threadIdx.x] = product.real() - product.imag();
}

void launch(const int* in, int* out, int* top, const cuda::std::complex<float>* values, float* sums, int tiles) {
  sorted<<<1, kThreads>>>(in, out, top, tiles);
  turned<<<1, kThreads>>>(values, sums);
}
