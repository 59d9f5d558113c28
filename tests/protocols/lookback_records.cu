// fault: "    records[tile].sum = sum;\n    __threadfence(); // sum\n    tell(&records[tile].state, SUM);" => "    tell(&records[tile].state, SUM);\n    records[tile].sum = sum;"
// fault: "    __threadfence(); // sum\n" => ""
// fault: "    __threadfence(); // all\n" => ""
// fault: "ld.acquire.gpu.global.u32" => "ld.relaxed.gpu.global.u32"
// fault: "ld.acquire.gpu.global.u32" => "ld.global.u32"
// fault: "st.relaxed.gpu.global.u32" => "st.relaxed.cta.global.u32"
// The state of a tile and what it tells of lie in one record; the pointer to the records is in a structure.
enum State : unsigned { NONE, SUM, ALL };
struct Record { unsigned state; int sum, all; };
__device__ __forceinline__ void tell(unsigned* p, unsigned v) { asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
__device__ __forceinline__ unsigned look(const unsigned* p) {
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
struct Records {
  Record* records;
  __device__ void put_sum(int tile, int sum) {
    records[tile].sum = sum;
    __threadfence(); // sum
    tell(&records[tile].state, SUM);
  }
  __device__ void put_all(int tile, int all) {
    records[tile].all = all;
    __threadfence(); // all
    tell(&records[tile].state, ALL);
  }
  __device__ int before(int tile) {
    int found = 0;
    for (int other = tile - 1; other >= 0; --other) {
      unsigned state;
      do {
        state = look(&records[other].state);
      } while (state == NONE);
      if (state == ALL) return found + records[other].all;
      found += records[other].sum;
    }
    return found;
  }
};
__global__ void __launch_bounds__(64) offsets(const int* counts, int* out, Records state) {
  __shared__ int first;
  const int own = counts[blockIdx.x * 64 + threadIdx.x];
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) {
      first = 0;
      state.put_all(0, own);
    } else {
      state.put_sum(blockIdx.x, own);
      first = state.before(blockIdx.x);
      state.put_all(blockIdx.x, first + own);
    }
  }
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = first + own;
}
