// fault: "ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full_[slot], kBytes + 0);" => "ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full_[slot], kBytes / 2);"
// fault: "(turn >> 1) & 1" => "turn & 1"
// fault: "  cluster_.sync();  // objects are there\n" => "  __syncthreads();\n"
// fault: "      ptx::barrier_cluster_arrive(ptx::sem_release);\n      ptx::barrier_cluster_wait(ptx::sem_acquire);\n" => "    __syncthreads();\n"
// fault: "    ptx::mbarrier_init(&full_[1], 1);\n" => ""
// fault: "uint64_t* there = cluster_.map_shared_rank(&full_[slot], next_);" => "uint64_t* there = &full_[slot];"
// Blocks of a ring hand values on with functions of cuda::ptx; members begin with what those before them say.
#include <cooperative_groups.h>
#include <cuda/ptx>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
template <class Scope>
__device__ void until(uint64_t* object, uint32_t parity, Scope scope) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, scope, object, parity)) {
  }
}
template <unsigned Threads>
struct Room {
  float4 value[2][Threads];
  uint64_t full[2];
};
template <unsigned Threads>
class Ring {
  static constexpr unsigned kBytes = Threads * sizeof(float4);
  Room<Threads>& room_;
  uint64_t* full_;
  cg::cluster_group cluster_ = cg::this_cluster();
  unsigned rank_ = cluster_.block_rank();
  unsigned next_ = (rank_ + 1) % cluster_.num_blocks();
  bool leads_ = threadIdx.x == 0;

  __device__ void expect(unsigned slot) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full_[slot], kBytes + 0);
  }

  __device__ void send(unsigned slot, float4 v) {
    const float parts[4] = {v.x, v.y, v.z, v.w};
    float* to = (float*)cluster_.map_shared_rank(&room_.value[slot][threadIdx.x], next_);
    uint64_t* there = cluster_.map_shared_rank(&full_[slot], next_);
    ptx::st_async(to, parts, there);
  }

 public:
  __device__ explicit Ring(Room<Threads>& room) : room_(room), full_(room.full) {}

  __device__ void run(const float4* in, float4* out, int turns) {
    if (leads_) {
      ptx::mbarrier_init(&full_[0], 1);
    ptx::mbarrier_init(&full_[1], 1);
      ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
      expect(0);
    }
  cluster_.sync();  // objects are there
    float4 v = in[std::size_t(blockIdx.x) * Threads + threadIdx.x];
    send(0, v);
    for (int turn = 0; turn < turns; ++turn) {
      const unsigned slot = turn & 1;
      if (turn + 1 < turns && leads_) expect(slot ^ 1);
      until(&full_[slot], (turn >> 1) & 1, ptx::scope_cluster);
      v = room_.value[slot][threadIdx.x ^ 32];
      ptx::barrier_cluster_arrive(ptx::sem_release);
      ptx::barrier_cluster_wait(ptx::sem_acquire);
      if (turn + 1 < turns) send(slot ^ 1, v);
    }
  cluster_.sync();
    out[std::size_t(blockIdx.x) * Threads + threadIdx.x] = v;
  }
};
template <unsigned Threads>
__global__ void __cluster_dims__(4) __launch_bounds__(Threads) pass(const float4* in, float4* out, int turns) {
  extern __shared__ unsigned char bytes[];
  Ring<Threads> ring(*reinterpret_cast<Room<Threads>*>(bytes));
  ring.run(in, out, turns);
}
void run(const float4* in, float4* out) { pass<128><<<16, 128, sizeof(Room<128>)>>>(in, out, 12); }
