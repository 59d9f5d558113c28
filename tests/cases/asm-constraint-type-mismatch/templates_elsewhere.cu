// oracle: refuses: the other file is not here
// Another file of the project may specialise a template.

template <class T> __device__ void word(T a) { asm volatile("// %0" :: "r"(a)); }
#include "specialised.h"
__device__ void words(double *p) { word<double>(*p); }
