// args: --target sm_80
// Instructions that the target does not have.
#include <nv/target>

__device__ void arrive() { asm volatile("barrier.cluster.arrive.aligned;"); }  // error[asm-target-feature]: `barrier.cluster.arrive.aligned` needs sm_90 or higher, this module is for sm_80

#if __CUDA_ARCH__ >= 900
__device__ void arrive_right() { asm volatile("barrier.cluster.arrive.aligned;"); }
#endif

// What another file defines is not known.
#ifdef HAS_CLUSTERS
__device__ void arrive_perhaps() { asm volatile("barrier.cluster.arrive.aligned;"); }
#endif

__device__ void arrive_inside() {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("barrier.cluster.arrive.aligned;");), (return;))
}

// What is compiled only where it is called may have callers that choose.
template <int N> __device__ void arrive_template() { asm volatile("barrier.cluster.arrive.aligned;"); }  // info[asm-target-feature]: `barrier.cluster.arrive.aligned` needs sm_90 or higher, this module is for sm_80
static __device__ void arrive_static() { asm volatile("barrier.cluster.arrive.aligned;"); }

// Branches within a statement are for other targets, too.
__device__ void within() {
  asm volatile(
#if __CUDA_ARCH__ >= 900
    "barrier.cluster.arrive.aligned;"
#else
    "bar.sync 0;"
#endif
  );
  asm volatile(
#if __CUDA_ARCH__ < 900
    "barrier.cluster.arrive.aligned;"  // error[asm-target-feature]: `barrier.cluster.arrive.aligned` needs sm_90 or higher, this module is for sm_80
#endif
    "bar.sync 0;");
}
