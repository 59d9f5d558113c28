// fault: "  asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");" => "  if (threadIdx.x == 0) asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");"
__global__ void __launch_bounds__(128) second(const float* first, float* out) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[i] = first[i] + 1.f;
}
