// args: --target sm_80
// What callers may choose is told once a file.
template <int N> __device__ void arrive() { asm volatile("barrier.cluster.arrive.aligned;"); }  // info[asm-target-feature]: `barrier.cluster.arrive.aligned` needs sm_90 or higher
template <int N> __device__ void wait() { asm volatile("barrier.cluster.wait.aligned;"); }
static __device__ void both() { asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"); }

#include <nv/target>
static __device__ void of_family() {
  NV_IF_TARGET(NV_HAS_FEATURE_SM_120f, (asm volatile("barrier.cluster.arrive.aligned;");))
  NV_IF_ELSE_TARGET(NV_IS_EXACTLY_SM_90, (asm volatile("barrier.cluster.arrive.aligned;");), (return;))
}
