// fault: "  while (!ready.try_wait_parity_for(false, cuda::std::chrono::microseconds(10))) {\n  }\n" => ""
// fault: "  while (!copies.consumer_wait_for(cuda::std::chrono::microseconds(10))) {\n  }\n" => ""
// fault: "  cuda::pipeline_producer_commit(own, ready);\n" => ""
// fault: "  free.acquire();  // what the first warp has copied\n" => ""
// fault: "  counted.wait();  // what both have copied\n" => ""
// Waits that give up after a time; semaphores, latches and atomic objects that are made in place.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <new>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void __launch_bounds__(128) patient(float* out, const float* in) {
  __shared__ alignas(16) float first[128], second[128];
  __shared__ barrier ready;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&ready, blockDim.x);
  __syncthreads();
  auto own = cuda::make_pipeline();
  cuda::memcpy_async(&first[threadIdx.x], &in[threadIdx.x], sizeof(float), own);
  cuda::pipeline_producer_commit(own, ready);
  (void)ready.arrive();
  while (!ready.try_wait_parity_for(false, cuda::std::chrono::microseconds(10))) {
  }
  float sum = first[threadIdx.x ^ 64];
  auto copies = cuda::make_pipeline(block, &state);
  copies.producer_acquire();
  cuda::memcpy_async(block, second, in + 128, sizeof(second), copies);
  copies.producer_commit();
  while (!copies.consumer_wait_for(cuda::std::chrono::microseconds(10))) {
  }
  out[threadIdx.x] = sum + second[threadIdx.x ^ 64];
  copies.consumer_release();
}
__global__ void __launch_bounds__(64) handed(float* out, const float* in) {
  using semaphore = cuda::binary_semaphore<cuda::thread_scope_block>;
  __shared__ alignas(8) unsigned char room[16];
  __shared__ float one;
  __shared__ unsigned places[64];
  __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> turn;
  auto& free = *reinterpret_cast<semaphore*>(room);
  if (threadIdx.x == 0) new (&free) semaphore(0);
  if (threadIdx.x == 0) new (&turn) cuda::atomic<unsigned, cuda::thread_scope_block>(0u);
  __syncthreads();
  places[threadIdx.x] = turn.fetch_add(1u, cuda::memory_order_relaxed);
  if (threadIdx.x == 0) {
    __pipeline_memcpy_async(&one, in, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    free.release();
  }
  if (threadIdx.x != 32) return;
  free.acquire();  // what the first warp has copied
  out[places[32] & 7] = one;
}
__global__ void __launch_bounds__(64) met(float* out, const float* in) {
  using latch = cuda::latch<cuda::thread_scope_block>;
  __shared__ alignas(8) unsigned char room[16];
  __shared__ float two[2];
  auto& counted = *reinterpret_cast<latch*>(room);
  if (threadIdx.x == 0) new (&counted) latch(2);
  __syncthreads();
  if (threadIdx.x & 31) return;
  __pipeline_memcpy_async(&two[threadIdx.x / 32], &in[threadIdx.x], sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  counted.count_down();
  counted.wait();  // what both have copied
  out[threadIdx.x] = two[0] + two[1];
}
void launch(float* p) {
  patient<<<1, 128>>>(p, p + 65536);
  handed<<<1, 64>>>(p, p + 65536);
  met<<<1, 64>>>(p, p + 65536);
}
