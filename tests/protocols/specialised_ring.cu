// fault: "    if (++i_ == N) { i_ = 0; flip_ = !flip_; }" => "    if (++i_ == N) { i_ = 0; }"
#include <cstdint>
#define D __device__ __forceinline__
D uint32_t u(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
D void minit(void* b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(u(b)), "r"(n)); }
D void marrive(void* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(u(b)) : "memory"); }
D void mexpect(void* b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(u(b)), "r"(n) : "memory"); }
D bool mtry(void* b, int p) { int ok; asm volatile("{\n.reg .pred q;\nmbarrier.try_wait.parity.shared::cta.b64 q, [%1], %2;\nselp.b32 %0, 1, 0, q;\n}" : "=r"(ok) : "r"(u(b)), "r"(p) : "memory"); return ok; }
D void mwait(void* b, int p) { while (!mtry(b, p)); }
D void bulk(void* d, const void* s, int n, void* b) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(u(d)), "l"(s), "r"(n), "r"(u(b)) : "memory"); }
template <typename T, int N, int Len> class Ring {
 public:
  struct alignas(128) Slot { T data[Len]; };
  struct Storage { Slot slots[N]; uint64_t full[N]; uint64_t empty[N]; };
  D explicit Ring(Storage& s, bool producer) : s_(&s), i_(0), flip_(producer) {}
  D static void setup(Storage& s, int readers) { for (int k = 0; k < N; ++k) { minit(&s.full[k], 1); minit(&s.empty[k], readers); } }
  D T* put(const T* from) { mwait(&s_->empty[i_], flip_); mexpect(&s_->full[i_], sizeof(Slot)); bulk(s_->slots[i_].data, from, sizeof(Slot), &s_->full[i_]); T* p = s_->slots[i_].data; next(); return p; }
  D const T* get() { mwait(&s_->full[i_], flip_); return s_->slots[i_].data; }
  D void release() { marrive(&s_->empty[i_]); next(); }
 private:
  D void next() {
    if (++i_ == N) { i_ = 0; flip_ = !flip_; }
  }
  Storage* s_; int i_; bool flip_;
};
using R = Ring<float, 4, 128>;
__global__ void __launch_bounds__(160) k(const float* in, float* out, int n) {
  extern __shared__ __align__(128) unsigned char raw[];
  auto* st = reinterpret_cast<R::Storage*>(raw);
  if (threadIdx.x == 0) R::setup(*st, 128);
  __syncthreads();
  if (threadIdx.x >= 128) {
    R wr{*st, true};
    if (threadIdx.x == 128) for (int i = 0; i < n; ++i) wr.put(in + i * 128);
    return;
  }
  R rd(*st, false);
  float a = 0;
  for (int i = 0; i < n; ++i) { const float* p = rd.get(); a += p[127 - threadIdx.x]; rd.release(); }
  out[threadIdx.x] = a;
}
