// Conditions that are true for targets without the instructions.
__device__ void guarded() {
#if __CUDA_ARCH__ >= 1000
  asm volatile("tcgen05.fence::before_thread_sync;");  // info[asm-target-feature]: the conditions let this be compiled for `sm_120a`, which lacks it
#endif
#if __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1000 && __CUDA_ARCH_FAMILY_SPECIFIC__ <= 1100
  asm volatile("tcgen05.fence::before_thread_sync;");
#endif
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.fence.sync.aligned;");
#endif
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.aligned;");
#endif
  // Without a condition nothing tells what is meant.
  asm volatile("wgmma.fence.sync.aligned;");
#if __CUDA_ARCH__ >= 900 && defined(OF_OTHERS)
  asm volatile("wgmma.fence.sync.aligned;");
#endif
}
