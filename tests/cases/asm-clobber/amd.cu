// Sources that HIP compiles too: registers of AMD's GPUs.
__device__ unsigned uniform(unsigned x) {
  asm volatile("" ::: "a0");
  asm volatile("" ::: "v17");
  asm volatile("" : "+s"(x));
  asm volatile("" ::: "r7"); // error[asm-clobber]: device code has no clobber `r7`
  return x;
}
