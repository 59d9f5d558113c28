// fault: "ptx::mbarrier_init(&empty[i], 64);" => "ptx::mbarrier_init(&empty[i], 2);"
// fault: "      while (!ptx::mbarrier_try_wait_parity(&full[s], ph)) {}\n" => ""
// fault: "      while (!ptx::mbarrier_try_wait_parity(&empty[s], ph ^ 1)) {}\n" => ""
// fault: "      ptx::mbarrier_arrive(&empty[s]);\n" => ""
// fault: "&full[s], 1024);" => "&full[s], 4096);"
#include <cuda/ptx>
#include <cstdint>
namespace ptx = cuda::ptx;
__global__ void __launch_bounds__(96) kern(const char* g, int* out, int n) {
  __shared__ alignas(128) char buf[3][1024];
  __shared__ uint64_t full[3], empty[3];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 3; ++i) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], 64);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x >= 64) {
    if (threadIdx.x == 64) for (int i = 0; i < n; ++i) {
      int s = i % 3;
      uint32_t ph = (i / 3) & 1;
      while (!ptx::mbarrier_try_wait_parity(&empty[s], ph ^ 1)) {}
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], 1024);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buf[s], g + i * 1024, 1024, &full[s]);
    }
  } else {
    int acc = 0;
    for (int i = 0; i < n; ++i) {
      int s = i % 3;
      uint32_t ph = (i / 3) & 1;
      while (!ptx::mbarrier_try_wait_parity(&full[s], ph)) {}
      acc += buf[s][threadIdx.x * 16];
      ptx::mbarrier_arrive(&empty[s]);
    }
    out[threadIdx.x] = acc;
  }
}
