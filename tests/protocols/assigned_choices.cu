// fault: "    wait_for(&full[slot], phase);\n" => ""
// fault: "    (slot == 0 ? first : second) ^= 1;\n" => ""
// fault: "2_KiB, &full[next]" => "1_KiB, &full[next]"
#include <cstdint>
#include <cuda/std/tuple>
#include <cuda/std/utility>

__host__ __device__ constexpr uint32_t operator""_KiB(unsigned long long of) { return uint32_t(of) * 1024u; }

struct Tiles { float all[2][512]; };
// A reference to an array.
__device__ float (&tile_of(Tiles& tiles, int slot))[512] { return tiles.all[slot]; }

__device__ uint32_t shared_address(const void* of) { return (uint32_t)__cvta_generic_to_shared(of); }
__device__ void init(uint64_t* bar) { asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(bar)) : "memory"); }
__device__ void expect(uint32_t bytes, uint64_t* bar) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory");
}
__device__ void wait_for(uint64_t* bar, uint32_t phase) {
  asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(
                   shared_address(bar)),
               "r"(phase)
               : "memory");
}
__device__ void copy(float* to, const float* from, uint64_t* bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(shared_address(bar))
               : "memory");
}
__device__ cuda::std::pair<int, int> split(int of) { return {of / 4, of % 4}; }

__global__ void __launch_bounds__(128) turns(const float* in, float* out, int rounds) {
  __shared__ alignas(128) Tiles tiles;
  __shared__ uint64_t full[2];
  if (threadIdx.x == 0) {
    init(&full[0]);
    init(&full[1]);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  // It counts what it has begun.
  auto next_round = [round = 0]() mutable { return round++; };
  uint32_t first = 0, second = 0;
  int quad, lane;
  cuda::std::tie(quad, lane) = split(threadIdx.x);
  auto begin = [&] {
    const int round = next_round(), next = round & 1;
    if (round < rounds && threadIdx.x == 0) {
      expect(2_KiB, &full[next]);
      copy(tile_of(tiles, next), in + round * 512, &full[next]);
    }
  };
  begin();
  for (int round = 0; round < rounds; ++round) {
    const int slot = round & 1;
    begin();
    const uint32_t phase = slot == 0 ? first : second;
    wait_for(&full[slot], phase);
    out[round * 128 + threadIdx.x] = tile_of(tiles, slot)[quad * 16 + lane];
    (slot == 0 ? first : second) ^= 1;
    __syncthreads();
  }
}

void launch(const float* in, float* out, int rounds) { turns<<<1, 128>>>(in, out, rounds); }
