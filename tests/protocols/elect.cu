// fault: "while (!mbar_try_wait(&full[slot], (turn & 1))) {}" => "while (!mbar_try_wait(&full[slot], (turn & 1) ^ 1)) {}"
// fault: "while (!mbar_try_wait(&empty[slot], (turn & 1) ^ 1)) {}" => "while (!mbar_try_wait(&empty[slot], (turn & 1))) {}"
// fault: "mbar_expect(&full[slot], 2 * BOX);" => "mbar_expect(&full[slot], 3 * BOX);"
// fault: "      mbar_init(&empty[i], 2);" => "      mbar_init(&empty[i], 64);"
// fault: "    if (elect_one()) mbar_arrive(&empty[slot]);\n" => ""
// fault: "    if (tile >= total) break;\n    if (elect_one()) {" => "    if (tile > total) break;\n    if (elect_one()) {"
// fault: "  __syncthreads();\n  if (warp == 0)" => "  if (warp == 0)"
#include <cstdint>
enum { DEPTH = 2, BOX = 1024 };

__device__ __forceinline__ bool elect_one() {
  uint32_t pred = 0;
  asm volatile(
      "{\n"
      ".reg .b32 %%rx;\n"
      ".reg .pred %%px;\n"
      "     elect.sync %%rx|%%px, %1;\n"
      "@%%px mov.s32 %0, 1;\n"
      "}\n"
      : "+r"(pred)
      : "r"(0xFFFFFFFF));
  return pred != 0;
}
__device__ __forceinline__ uint32_t smem_u32(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void mbar_init(uint64_t* b, int n) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(smem_u32(b)), "r"(n) : "memory");
}
__device__ __forceinline__ void mbar_expect(uint64_t* b, int n) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(smem_u32(b)), "r"(n) : "memory");
}
__device__ __forceinline__ void mbar_arrive(uint64_t* b) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(smem_u32(b)) : "memory");
}
__device__ __forceinline__ bool mbar_try_wait(uint64_t* b, uint32_t parity) {
  int ok;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "mbarrier.try_wait.parity.acquire.cta.shared.b64 p, [%1], %2;\n\t"
      "selp.b32 %0, 1, 0, p;\n\t}"
      : "=r"(ok)
      : "r"(smem_u32(b)), "r"(parity)
      : "memory");
  return ok;
}
__device__ __forceinline__ void bulk_load(void* dst, const void* src, uint64_t* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" : : "r"(smem_u32(dst)), "l"(src), "n"((int)BOX), "r"(smem_u32(b)) : "memory");
}

__device__ void fill(char (*a)[BOX], char (*b)[BOX], uint64_t* full, uint64_t* empty, const char* x, const char* y, int total) {
  int slot = 0, turn = 0;
  for (int tile = blockIdx.x;; tile += gridDim.x) {
    if (tile >= total) break;
    if (elect_one()) {
      while (!mbar_try_wait(&empty[slot], (turn & 1) ^ 1)) {}
      mbar_expect(&full[slot], 2 * BOX);
      bulk_load(a[slot], x + (size_t)tile * BOX, &full[slot]);
      bulk_load(b[slot], y + (size_t)tile * BOX, &full[slot]);
    }
    if (++slot == DEPTH) {
      slot = 0;
      ++turn;
    }
  }
}

__device__ void drain(char (*a)[BOX], char (*b)[BOX], uint64_t* full, uint64_t* empty, char* z, int total) {
  int slot = 0, turn = 0;
  for (int tile = blockIdx.x; tile < total; tile += gridDim.x) {
    while (!mbar_try_wait(&full[slot], (turn & 1))) {}
    for (int i = threadIdx.x - 32; i < BOX; i += 64) z[(size_t)tile * BOX + i] = a[slot][i] + b[slot][i];
    __syncwarp();
    if (elect_one()) mbar_arrive(&empty[slot]);
    if (++slot == DEPTH) {
      slot = 0;
      ++turn;
    }
  }
}

__global__ void __launch_bounds__(96) add_tiles(const char* x, const char* y, char* z, int total) {
  __shared__ alignas(128) char a[DEPTH][BOX];
  __shared__ alignas(128) char b[DEPTH][BOX];
  __shared__ alignas(8) uint64_t full[DEPTH], empty[DEPTH];
  const int warp = threadIdx.x >> 5;
  if (threadIdx.x == 0) {
    for (int i = 0; i < DEPTH; ++i) {
      mbar_init(&full[i], 1);
      mbar_init(&empty[i], 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
  }
  __syncthreads();
  if (warp == 0)
    fill(a, b, full, empty, x, y, total);
  else
    drain(a, b, full, empty, z, total);
}
