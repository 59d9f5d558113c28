// oracle: refuses: one wrong use is enough for it, and what declares the other names is not here
// What the file itself gives to a template's parameter is known, where nothing may choose another function.

template <class T> __device__ int word(T a) { int r; asm volatile("mov.u32 %0, %1;" : "=r"(r) : "r"(a)); return r; }  // error[asm-constraint-type-mismatch]: `a` does not fit the constraint `r`: `long long` has 64 bits
__global__ void words(long long *p) { *p = word<long long>(*p) + word<double>(1.0); }
// ---
template <typename T, int N> __global__ void kernel(T *p) {
  T x = p[N];
  if (sizeof(T) == 4) asm volatile("// %0" :: "f"(x));  // error[asm-constraint-type-mismatch]: `x` does not fit the constraint `f`: `double` has 64 bits
}
void launch(double *p) { kernel<double, 2><<<1, 1>>>(p); }
// ---
// One use fits.
template <class T> __device__ void both(T a) { asm volatile("// %0" :: "r"(a)); }
__device__ void some(double *p) { both<int>(1); both<double>(*p); }
// ---
// Nobody says which type.
template <class T> __device__ void unused(T a) { asm volatile("// %0" :: "r"(a)); }
template <class T> __device__ void deduced(T a) { asm volatile("// %0" :: "r"(a)); }
__device__ void deduces(int *p) { deduced(*p); }
template <class T> __device__ void passes_on(T a) { unused<double>(a); }
// ---
// The other branch is not instantiated.
template <class T> __device__ void chosen(T a) {
  if constexpr (sizeof(T) == 4) asm volatile("// %0" :: "r"(a));
  else asm volatile("// %0" :: "d"(a));
}
__device__ void chooses(double *p) { chosen<double>(*p); }
// ---
// Another declaration may be meant.
template <class T> __device__ void special(T a) { asm volatile("// %0" :: "r"(a)); }
template <> __device__ void special<double>(double a) { asm volatile("// %0" :: "d"(a)); }
__device__ void specialises(double *p) { special<double>(*p); }
template <class T> __device__ void overloaded(T a);
template <class T> __device__ void overloaded(T a) { asm volatile("// %0" :: "r"(a)); }
__device__ void overloads(double *p) { overloaded<double>(*p); }
template <class T, class = typename Only<T, 4>::type> __device__ void some_only(T a) { asm volatile("// %0" :: "r"(a)); }
__device__ void only(double *p) { some_only<double>(*p); }
template <class T> __device__ typename Only<T, 4>::type returns(T a) { asm volatile("// %0" :: "r"(a)); }
__device__ void returned(double *p) { returns<double>(*p); }
#define SPECIAL(T, c) template <> __device__ void of_macro<T>(T a) { asm volatile("// %0" :: c(a)); }
template <class T> __device__ void of_macro(T a) { asm volatile("// %0" :: "r"(a)); }
SPECIAL(double, "d")
__device__ void of_macros(double *p) { of_macro<double>(*p); }
// ---
// It is not compiled, or not for this.
#ifdef WIDE
__device__ void wide(double *p) { narrow<double>(*p); }
#endif
template <class T> __device__ void narrow(T a) { asm volatile("// %0" :: "r"(a)); }
template <class T> __device__ T typed(T a) { asm volatile("// %0" :: "r"(a)); return a; }
__device__ void types() { decltype(typed<double>(1.0)) x = 0; }
template <class T> __device__ void member(T a) { asm volatile("// %0" :: "r"(a)); }
__device__ void members(Other o) { o.member<double>(1.0); other::member<double>(1.0); }
