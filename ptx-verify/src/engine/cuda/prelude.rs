//! What kernels use of the standard library, as far as it holds numbers: declared here in our own words, with the names of the
//! library, so that who translates a kernel reads it like any other structure.

use memchr::memmem;

/// A part of the library, and the words that tell that a source uses it.
struct Part {
    words: &'static [&'static str],
    text: &'static str,
}

const PARTS: [Part; 32] = [
    Part {
        words: &["std::array"],
        text: "template <class T, unsigned long N> struct array { T elements[N]; \
               __device__ static constexpr unsigned long size() { return N; } \
               __device__ T* data() { return elements; } __device__ T* begin() { return elements; } \
               __device__ T* end() { return elements + N; } \
               __device__ T& front() { return elements[0]; } __device__ T& back() { return elements[N - 1]; } \
               __device__ T& at(unsigned long i) { return elements[i]; } \
               __device__ static constexpr bool empty() { return N == 0; } \
               __device__ void fill(T value) { for (int i = 0; i < N; i++) elements[i] = value; } };\n",
    },
    Part {
        words: &["std::span"],
        text: "template <class T, unsigned long N = 18446744073709551615ul> struct span { \
               T* data_; unsigned long size_; \
               __device__ constexpr span() : data_(nullptr), size_(0) {} \
               __device__ constexpr span(T* data, unsigned long size) : data_(data), size_(size) {} \
               template <unsigned long M> __device__ constexpr span(T (&all)[M]) : data_(all), size_(M) {} \
               __device__ T* data() const { return data_; } __device__ unsigned long size() const { return size_; } \
               __device__ unsigned long size_bytes() const { return size_ * sizeof(T); } \
               __device__ bool empty() const { return size_ == 0; } \
               __device__ T& operator[](unsigned long i) const { return data_[i]; } \
               __device__ T& front() const { return data_[0]; } __device__ T& back() const { return data_[size_ - 1]; } \
               __device__ T* begin() const { return data_; } __device__ T* end() const { return data_ + size_; } \
               template <unsigned long M> __device__ span<T> first() const { return {data_, M}; } \
               template <unsigned long M> __device__ span<T> last() const { return {data_ + (size_ - M), M}; } \
               __device__ span<T> subspan(unsigned long at) const { return {data_ + at, size_ - at}; } \
               __device__ span<T> first(unsigned long n) const { return {data_, n}; } \
               __device__ span<T> last(unsigned long n) const { return {data_ + (size_ - n), n}; } \
               __device__ span<T> subspan(unsigned long at, unsigned long n) const { return {data_ + at, n}; } };\n",
    },
    Part {
        words: &["cuda::ceil_div", "cuda::round_up", "cuda::round_down"],
        text: "template <class A, class B> __device__ constexpr auto ceil_div(A a, B b) { return (a + b - 1) / b; }\n\
               template <class A, class B> __device__ constexpr auto round_up(A a, B b) { return (a + b - 1) / b * b; }\n\
               template <class A, class B> __device__ constexpr auto round_down(A a, B b) { return a / b * b; }\n",
    },
    Part {
        words: &["std::exchange", "std::clamp"],
        text: "template <class T, class U> __device__ T exchange(T& of, U next) { T old = of; of = next; return old; }\n\
               template <class T> __device__ constexpr T clamp(T a, T low, T high) { return a < low ? low : (high < a ? high : a); }\n",
    },
    Part {
        words: &["std::pair", "make_pair"],
        text: "template <class A, class B> struct pair { A first; B second; };\n\
               template <class A, class B> __device__ pair<A, B> make_pair(A a, B b) { return {a, b}; }\n",
    },
    Part {
        words: &["std::tuple", "make_tuple"],
        text: "template <class... T> struct tuple;\n\
               template <class A> struct tuple<A> { A m0; };\n\
               template <class A, class B> struct tuple<A, B> { A m0; B m1; };\n\
               template <class A, class B, class C> struct tuple<A, B, C> { A m0; B m1; C m2; };\n\
               template <class A, class B, class C, class D> struct tuple<A, B, C, D> { A m0; B m1; C m2; D m3; };\n\
               template <class A, class B, class C, class D, class E> struct tuple<A, B, C, D, E> { A m0; B m1; C m2; D m3; E m4; };\n\
               template <class A> __device__ tuple<A> make_tuple(A a) { return {a}; }\n\
               template <class A, class B> __device__ tuple<A, B> make_tuple(A a, B b) { return {a, b}; }\n\
               template <class A, class B, class C> __device__ tuple<A, B, C> make_tuple(A a, B b, C c) { return {a, b, c}; }\n\
               template <class A, class B, class C, class D> __device__ tuple<A, B, C, D> make_tuple(A a, B b, C c, D d) { return {a, b, c, d}; }\n\
               template <class A, class B, class C, class D, class E> __device__ tuple<A, B, C, D, E> make_tuple(A a, B b, C c, D d, E e) { return {a, b, c, d, e}; }\n",
    },
    Part {
        words: &["std::apply"],
        text: "template <class F, class A> __device__ auto apply(F act, tuple<A> of) { return act(of.m0); }\n\
               template <class F, class A, class B> __device__ auto apply(F act, tuple<A, B> of) { return act(of.m0, of.m1); }\n\
               template <class F, class A, class B, class C> __device__ auto apply(F act, tuple<A, B, C> of) { return act(of.m0, of.m1, of.m2); }\n",
    },
    Part {
        words: &["std::complex", "thrust::complex"],
        text: "template <class T> struct complex { T re_; T im_; \
               __device__ constexpr complex() : re_(0), im_(0) {} \
               __device__ constexpr complex(T re) : re_(re), im_(0) {} \
               __device__ constexpr complex(T re, T im) : re_(re), im_(im) {} \
               __device__ T real() const { return re_; } __device__ T imag() const { return im_; } \
               __device__ void real(T of) { re_ = of; } __device__ void imag(T of) { im_ = of; } \
               __device__ complex& operator+=(complex<T> of) { re_ += of.re_; im_ += of.im_; return *this; } \
               __device__ complex& operator-=(complex<T> of) { re_ -= of.re_; im_ -= of.im_; return *this; } \
               __device__ complex& operator*=(complex<T> of) { re_ *= of.re_; im_ *= of.im_; return *this; } };\n\
               template <class T> __device__ complex<T> operator+(complex<T> a, complex<T> b) { return complex<T>(a.re_ + b.re_, a.im_ + b.im_); }\n\
               template <class T> __device__ complex<T> operator-(complex<T> a, complex<T> b) { return complex<T>(a.re_ - b.re_, a.im_ - b.im_); }\n\
               template <class T> __device__ complex<T> operator*(complex<T> a, complex<T> b) { return complex<T>(a.re_ * b.re_ - a.im_ * b.im_, a.re_ * b.im_ + a.im_ * b.re_); }\n\
               template <class T> __device__ complex<T> conj(complex<T> a) { return complex<T>(a.re_, -a.im_); }\n\
               template <class T> __device__ T norm(complex<T> a) { return a.re_ * a.re_ + a.im_ * a.im_; }\n",
    },
    Part {
        words: &["integral_constant", "conditional_t", "true_type", "false_type", "bool_constant"],
        text: "template <class T, T N> struct integral_constant { static constexpr T value = N; \
               __device__ constexpr operator T() const { return N; } __device__ constexpr T operator()() const { return N; } };\n\
               template <bool B> using bool_constant = integral_constant<bool, B>;\n\
               using true_type = integral_constant<bool, true>;\n\
               using false_type = integral_constant<bool, false>;\n\
               template <bool B, class T, class F> struct conditional { using type = T; };\n\
               template <class T, class F> struct conditional<false, T, F> { using type = F; };\n\
               template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;\n",
    },
    Part {
        words: &["std::byte"],
        text: "using byte = unsigned char;\n\
               template <class T> __device__ constexpr T to_integer(unsigned char b) { return T(b); }\n",
    },
    Part {
        words: &["std::as_const", "std::addressof", "std::to_underlying"],
        text: "template <class T> __device__ constexpr T to_underlying(T of) { return of; }\n\
               template <class T> __device__ T& as_const(T& of) { return of; }\n\
               template <class T> __device__ T* addressof(T& of) { return &of; }\n",
    },
    Part {
        words: &["std::size("],
        text: "template <class T, unsigned long N> __device__ constexpr unsigned long size(T (&all)[N]) { return N; }\n",
    },
    Part {
        words: &["std::begin(", "std::end(", "std::distance(", "std::next("],
        text: "template <class T, unsigned long N> __device__ constexpr T* begin(T (&all)[N]) { return all; }\n\
               template <class T, unsigned long N> __device__ constexpr T* end(T (&all)[N]) { return all + N; }\n\
               template <class T> __device__ constexpr long distance(T first, T last) { return last - first; }\n\
               template <class T> __device__ constexpr T next(T of, long by = 1) { return of + by; }\n",
    },
    Part {
        words: &["std::gcd", "std::lcm"],
        text: "template <class T> __device__ constexpr T gcd(T a, T b) { while (b != 0) { T left = a % b; a = b; b = left; } return a; }\n\
               template <class T> __device__ constexpr T lcm(T a, T b) { T x = a; T y = b; while (y != 0) { T left = x % y; x = y; y = left; } return a / x * b; }\n",
    },
    Part {
        words: &["std::cmp_"],
        text: "template <class A, class B> __device__ constexpr bool cmp_less(A a, B b) { return (long long)a < (long long)b; }\n\
               template <class A, class B> __device__ constexpr bool cmp_less_equal(A a, B b) { return (long long)a <= (long long)b; }\n\
               template <class A, class B> __device__ constexpr bool cmp_greater(A a, B b) { return (long long)a > (long long)b; }\n\
               template <class A, class B> __device__ constexpr bool cmp_greater_equal(A a, B b) { return (long long)a >= (long long)b; }\n\
               template <class A, class B> __device__ constexpr bool cmp_equal(A a, B b) { return (long long)a == (long long)b; }\n\
               template <class A, class B> __device__ constexpr bool cmp_not_equal(A a, B b) { return (long long)a != (long long)b; }\n",
    },
    Part {
        words: &["std::assume_aligned"],
        text: "template <unsigned long N, class T> __device__ T* assume_aligned(T* of) { return of; }\n",
    },
    Part {
        words: &["std::optional"],
        text: "using nullopt_t = char*; constexpr char* nullopt = nullptr;\n\
               template <class T> struct optional { T value_; bool has_; \
               __device__ constexpr optional() : value_(), has_(false) {} \
               __device__ constexpr optional(nullopt_t) : value_(), has_(false) {} \
               __device__ constexpr optional(T value) : value_(value), has_(true) {} \
               __device__ optional& operator=(T value) { value_ = value; has_ = true; return *this; } \
               __device__ optional& operator=(optional<T> of) { value_ = of.value_; has_ = of.has_; return *this; } \
               __device__ optional& operator=(nullopt_t) { has_ = false; return *this; } \
               __device__ bool has_value() const { return has_; } \
               __device__ explicit operator bool() const { return has_; } \
               __device__ T& operator*() { return value_; } __device__ T& value() { return value_; } \
               __device__ T* operator->() { return &value_; } \
               __device__ T value_or(T other) const { return has_ ? value_ : other; } \
               __device__ void reset() { has_ = false; } };\n\
               template <class T> __device__ optional<T> make_optional(T value) { return optional<T>(value); }\n",
    },
    Part {
        words: &[
            "std::popcount",
            "std::countl_zero",
            "std::countr_zero",
            "std::bit_width",
            "std::bit_ceil",
            "std::bit_floor",
            "std::has_single_bit",
            "std::rotl",
            "std::rotr",
            "cuda::ilog2",
            "cuda::is_power_of_two",
        ],
        text: "template <class T> __device__ constexpr int popcount(T x) { return sizeof(T) == 8 ? __popcll(x) : __popc(x); }\n\
               template <class T> __device__ constexpr int countl_zero(T x) { return sizeof(T) == 8 ? __clzll(x) : __clz(x); }\n\
               template <class T> __device__ constexpr int countr_zero(T x) { \
               return x == 0 ? int(sizeof(T) * 8) : sizeof(T) == 8 ? __ffsll(x) - 1 : __ffs(x) - 1; }\n\
               template <class T> __device__ constexpr int bit_width(T x) { return sizeof(T) == 8 ? 64 - __clzll(x) : 32 - __clz(x); }\n\
               template <class T> __device__ constexpr int ilog2(T x) { return sizeof(T) == 8 ? 63 - __clzll(x) : 31 - __clz(x); }\n\
               template <class T> __device__ constexpr T bit_floor(T x) { return x == 0 ? T(0) : T(1) << (sizeof(T) == 8 ? 63 - __clzll(x) : 31 - __clz(x)); }\n\
               template <class T> __device__ constexpr T bit_ceil(T x) { return x < 2 ? T(1) : T(1) << (sizeof(T) == 8 ? 64 - __clzll(x - 1) : 32 - __clz(x - 1)); }\n\
               template <class T> __device__ constexpr bool has_single_bit(T x) { return x != 0 && (x & (x - 1)) == 0; }\n\
               template <class T> __device__ constexpr bool is_power_of_two(T x) { return x > 0 && (x & (x - 1)) == 0; }\n\
               template <class T> __device__ constexpr T rotl(T x, int by) { return (x << by) | (x >> (sizeof(T) * 8 - by)); }\n\
               template <class T> __device__ constexpr T rotr(T x, int by) { return (x >> by) | (x << (sizeof(T) * 8 - by)); }\n",
    },
    Part {
        words: &[
            "std::plus",
            "std::minus",
            "std::multiplies",
            "std::divides",
            "std::modulus",
            "std::bit_xor",
            "std::bit_and",
            "std::bit_or",
            "cuda::maximum",
            "cuda::minimum",
            "std::less",
            "std::greater",
        ],
        text: "template <class T = void> struct divides { template <class A, class B> __device__ constexpr auto operator()(A a, B b) const { return a / b; } };\n\
               template <class T = void> struct modulus { template <class A, class B> __device__ constexpr auto operator()(A a, B b) const { return a % b; } };\n\
               template <class T = void> struct bit_xor { template <class A, class B> __device__ constexpr auto operator()(A a, B b) const { return a ^ b; } };\n\
               template <class T = void> struct bit_and { template <class A, class B> __device__ constexpr auto operator()(A a, B b) const { return a & b; } };\n\
               template <class T = void> struct bit_or { template <class A, class B> __device__ constexpr auto operator()(A a, B b) const { return a | b; } };\n\
               template <class T = void> struct plus { template <class A, class B> __device__ constexpr auto operator()(A a, B b) const { return a + b; } };\n\
               template <class T = void> struct minus { template <class A, class B> __device__ constexpr auto operator()(A a, B b) const { return a - b; } };\n\
               template <class T = void> struct multiplies { template <class A, class B> __device__ constexpr auto operator()(A a, B b) const { return a * b; } };\n\
               template <class T = void> struct maximum { template <class A, class B> __device__ constexpr auto operator()(A a, B b) const { return a < b ? b : a; } };\n\
               template <class T = void> struct minimum { template <class A, class B> __device__ constexpr auto operator()(A a, B b) const { return b < a ? b : a; } };\n\
               template <class T = void> struct less { template <class A, class B> __device__ constexpr bool operator()(A a, B b) const { return a < b; } };\n\
               template <class T = void> struct greater { template <class A, class B> __device__ constexpr bool operator()(A a, B b) const { return b < a; } };\n",
    },
    Part {
        words: &["counting_semaphore", "binary_semaphore"],
        text: "template <int S, long N = 2147483647l> struct counting_semaphore { cuda::atomic<int, S> count_; \
               __device__ constexpr counting_semaphore(int count) : count_(count) {} \
               __device__ bool try_acquire() { int old = count_.load(cuda::memory_order_acquire); \
               if (old == 0) return false; \
               return count_.compare_exchange_strong(old, old - 1, cuda::memory_order_acquire, cuda::memory_order_relaxed); } \
               __device__ void acquire() { while (!try_acquire()) {} } \
               __device__ void release(int by = 1) { count_.fetch_add(by, cuda::memory_order_release); } };\n\
               template <int S> using binary_semaphore = counting_semaphore<S, 1l>;\n",
    },
    Part {
        words: &["cuda::latch", "std::latch"],
        text: "template <int S> struct latch { cuda::atomic<int, S> left_; \
               __device__ constexpr latch(int count) : left_(count) {} \
               __device__ void count_down(int by = 1) { left_.fetch_sub(by, cuda::memory_order_release); } \
               __device__ bool try_wait() { return left_.load(cuda::memory_order_acquire) == 0; } \
               __device__ void wait() { while (left_.load(cuda::memory_order_acquire) != 0) {} } \
               __device__ void arrive_and_wait(int by = 1) { count_down(by); wait(); } };\n",
    },
    Part {
        words: &["std::numeric_limits"],
        text: "template <class T> struct numeric_limits;\n\
               template <> struct numeric_limits<unsigned char> { static constexpr int digits = 8; \
               __device__ static constexpr unsigned char max() { return 255; } __device__ static constexpr unsigned char min() { return 0; } };\n\
               template <> struct numeric_limits<unsigned short> { static constexpr int digits = 16; \
               __device__ static constexpr unsigned short max() { return 65535; } __device__ static constexpr unsigned short min() { return 0; } };\n\
               template <> struct numeric_limits<int> { static constexpr int digits = 31; \
               __device__ static constexpr int max() { return 2147483647; } \
               __device__ static constexpr int min() { return -2147483647 - 1; } \
               __device__ static constexpr int lowest() { return -2147483647 - 1; } };\n\
               template <> struct numeric_limits<unsigned> { static constexpr int digits = 32; \
               __device__ static constexpr unsigned max() { return 4294967295u; } \
               __device__ static constexpr unsigned min() { return 0u; } };\n\
               template <> struct numeric_limits<long long> { static constexpr int digits = 63; \
               __device__ static constexpr long long max() { return 9223372036854775807ll; } \
               __device__ static constexpr long long min() { return -9223372036854775807ll - 1; } };\n\
               template <> struct numeric_limits<unsigned long long> { static constexpr int digits = 64; \
               __device__ static constexpr unsigned long long max() { return 18446744073709551615ull; } \
               __device__ static constexpr unsigned long long min() { return 0ull; } };\n\
               template <> struct numeric_limits<float> { \
               __device__ static constexpr float max() { return 3.402823466e38f; } \
               __device__ static constexpr float min() { return 1.175494351e-38f; } \
               __device__ static constexpr float lowest() { return -3.402823466e38f; } \
               __device__ static constexpr float epsilon() { return 1.192092896e-7f; } \
               __device__ static constexpr float quiet_NaN() { return 0.f / 0.f; } \
               __device__ static constexpr float infinity() { return 1.f / 0.f; } };\n\
               template <> struct numeric_limits<double> { \
               __device__ static constexpr double max() { return 1.7976931348623157e308; } \
               __device__ static constexpr double min() { return 2.2250738585072014e-308; } \
               __device__ static constexpr double lowest() { return -1.7976931348623157e308; } \
               __device__ static constexpr double epsilon() { return 2.220446049250313e-16; } \
               __device__ static constexpr double infinity() { return 1.0 / 0.0; } };\n",
    },
    Part {
        words: &["std::mdspan"],
        text: "template <class I, unsigned long... N> struct extents;\n\
               template <class I, unsigned long A> struct extents<I, A> { \
               static constexpr unsigned long n0 = A; static constexpr unsigned long n1 = 1; static constexpr unsigned long n2 = 1; };\n\
               template <class I, unsigned long A, unsigned long B> struct extents<I, A, B> { \
               static constexpr unsigned long n0 = A; static constexpr unsigned long n1 = B; static constexpr unsigned long n2 = 1; };\n\
               template <class I, unsigned long A, unsigned long B, unsigned long C> struct extents<I, A, B, C> { \
               static constexpr unsigned long n0 = A; static constexpr unsigned long n1 = B; static constexpr unsigned long n2 = C; };\n\
               template <class I, unsigned long R> struct dextents { \
               static constexpr unsigned long n0 = 1; static constexpr unsigned long n1 = 1; static constexpr unsigned long n2 = 1; };\n\
               template <class T, class E> struct mdspan { T* data_; unsigned long n0_; unsigned long n1_; unsigned long n2_; \
               __device__ constexpr mdspan(T* data) : data_(data), n0_(E::n0), n1_(E::n1), n2_(E::n2) {} \
               __device__ constexpr mdspan(T* data, unsigned long a) : data_(data), n0_(a), n1_(1), n2_(1) {} \
               __device__ constexpr mdspan(T* data, unsigned long a, unsigned long b) : data_(data), n0_(a), n1_(b), n2_(1) {} \
               __device__ constexpr mdspan(T* data, unsigned long a, unsigned long b, unsigned long c) : data_(data), n0_(a), n1_(b), n2_(c) {} \
               __device__ T& operator()(unsigned long i) const { return data_[i]; } \
               __device__ T& operator()(unsigned long i, unsigned long j) const { return data_[i * n1_ + j]; } \
               __device__ T& operator()(unsigned long i, unsigned long j, unsigned long k) const { return data_[(i * n1_ + j) * n2_ + k]; } \
               __device__ T* data_handle() const { return data_; } \
               __device__ unsigned long size() const { return n0_ * n1_ * n2_; } \
               __device__ unsigned long extent(int which) const { return which == 0 ? n0_ : which == 1 ? n1_ : n2_; } };\n",
    },
    // The first lane of each warp leaves what its warp has; the first thread, or all, look at that.
    Part {
        words: &["cub::BlockReduce", "cub::WarpReduce", "cub::BlockScan"],
        text: "template <class T, int N, int A = 0> struct BlockReduce { struct TempStorage { T warps[32]; }; TempStorage* room_; \
               __device__ BlockReduce(TempStorage& room) : room_(&room) {} \
               __device__ T of_all_(T value) { if ((threadIdx.x & 31) == 0) room_->warps[threadIdx.x >> 5] = value; \
               __syncthreads(); \
               if (threadIdx.x == 0) { for (int i = 1; i < (N + 31) / 32; ++i) value = room_->warps[i]; } return value; } \
               __device__ T Sum(T value) { return of_all_(value); } \
               __device__ T Sum(T value, int count) { return of_all_(value); } \
               template <class F> __device__ T Reduce(T value, F with) { return of_all_(value); } \
               template <class F> __device__ T Reduce(T value, F with, int count) { return of_all_(value); } };\n\
               template <class T, int N = 32> struct WarpReduce { struct TempStorage { T none; }; TempStorage* room_; \
               __device__ WarpReduce(TempStorage& room) : room_(&room) {} \
               __device__ T Sum(T value) { return __shfl_down_sync(~0u, value, 1); } \
               template <class F> __device__ T Reduce(T value, F with) { return __shfl_down_sync(~0u, value, 1); } };\n\
               template <class T, int N, int A = 0> struct BlockScan { struct TempStorage { T warps[32]; }; TempStorage* room_; \
               __device__ BlockScan(TempStorage& room) : room_(&room) {} \
               __device__ T of_those_before_(T value) { \
               if ((threadIdx.x & 31) == 31) room_->warps[threadIdx.x >> 5] = value; __syncthreads(); \
               for (int i = 0; i < (N + 31) / 32; ++i) value += room_->warps[i]; return value; } \
               __device__ void ExclusiveSum(T value, T& sum) { sum = of_those_before_(value); } \
               __device__ void InclusiveSum(T value, T& sum) { sum = of_those_before_(value); } \
               __device__ void ExclusiveSum(T value, T& sum, T& all) { sum = of_those_before_(value); all = sum; } \
               __device__ void InclusiveSum(T value, T& sum, T& all) { sum = of_those_before_(value); all = sum; } \
               template <class F> __device__ void InclusiveScan(T value, T& result, F with) { result = of_those_before_(value); } \
               template <class F> __device__ void InclusiveScan(T value, T& result, F with, T& all) { result = of_those_before_(value); all = result; } \
               template <class F> __device__ void ExclusiveScan(T value, T& result, T first, F with) { result = of_those_before_(value); } \
               template <class F> __device__ void ExclusiveScan(T value, T& result, T first, F with, T& all) { result = of_those_before_(value); all = result; } };\n",
    },
    Part {
        words: &["cub::WarpScan"],
        text: "template <class T, int N = 32> struct WarpScan { struct TempStorage { T none; }; TempStorage* room_; \
               __device__ WarpScan(TempStorage& room) : room_(&room) {} \
               __device__ void ExclusiveSum(T value, T& sum) { sum = __shfl_up_sync(~0u, value, 1); } \
               __device__ void InclusiveSum(T value, T& sum) { sum = __shfl_up_sync(~0u, value, 1); } \
               __device__ void ExclusiveSum(T value, T& sum, T& all) { sum = __shfl_up_sync(~0u, value, 1); all = sum; } \
               __device__ void InclusiveSum(T value, T& sum, T& all) { sum = __shfl_up_sync(~0u, value, 1); all = sum; } };\n",
    },
    Part {
        words: &["cub::BLOCK_REDUCE_"],
        text: "enum { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };\n",
    },
    Part {
        words: &["cub::BLOCK_SCAN_"],
        text: "enum { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };\n",
    },
    // What threads load side by side they exchange in shared memory: all of the block, or those of each warp. Each writes what is
    // others' and reads its own.
    Part {
        words: &["cub::BlockLoad", "cub::BLOCK_LOAD_"],
        text: "enum { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED };\n\
               template <class T, int N, int I, int A = 0> struct BlockLoad { struct TempStorage { T all[N * I]; }; TempStorage* room_; \
               __device__ BlockLoad(TempStorage& room) : room_(&room) {} \
               template <class P> __device__ void Load(P from, T (&items)[I]) { \
               for (int i = 0; i < I; ++i) { const int e = threadIdx.x * I + i; items[i] = from[e]; } \
               if (A == 3) { for (int i = 0; i < I; ++i) room_->all[i * N + threadIdx.x] = items[i]; __syncthreads(); \
               for (int i = 0; i < I; ++i) items[i] = room_->all[threadIdx.x * I + i]; } \
               if (A > 3) { const int first = (threadIdx.x & ~31) * I; const int lane = threadIdx.x & 31; \
               for (int i = 0; i < I; ++i) room_->all[first + i * 32 + lane] = items[i]; __syncwarp(); \
               for (int i = 0; i < I; ++i) items[i] = room_->all[first + lane * I + i]; } } \
               template <class P> __device__ void Load(P from, T (&items)[I], int count) { Load(from, items); } \
               template <class P, class D> __device__ void Load(P from, T (&items)[I], int count, D otherwise) { Load(from, items); } };\n",
    },
    Part {
        words: &["cub::BlockStore", "cub::BLOCK_STORE_"],
        text: "enum { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED };\n\
               template <class T, int N, int I, int A = 0> struct BlockStore { struct TempStorage { T all[N * I]; }; TempStorage* room_; \
               __device__ BlockStore(TempStorage& room) : room_(&room) {} \
               template <class P> __device__ void Store(P to, T (&items)[I]) { \
               if (A == 3) { for (int i = 0; i < I; ++i) room_->all[i * N + threadIdx.x] = items[i]; __syncthreads(); \
               for (int i = 0; i < I; ++i) items[i] = room_->all[threadIdx.x * I + i]; } \
               if (A > 3) { const int first = (threadIdx.x & ~31) * I; const int lane = threadIdx.x & 31; \
               for (int i = 0; i < I; ++i) room_->all[first + i * 32 + lane] = items[i]; __syncwarp(); \
               for (int i = 0; i < I; ++i) items[i] = room_->all[first + lane * I + i]; } \
               for (int i = 0; i < I; ++i) to[threadIdx.x * I + i] = items[i]; } \
               template <class P> __device__ void Store(P to, T (&items)[I], int count) { Store(to, items); } };\n",
    },
    Part {
        words: &["cub::BlockRadixSort"],
        text: "template <class K, int N, int I, class V = int> struct BlockRadixSort { struct TempStorage { K all[N * I]; V values[N * I]; }; TempStorage* room_; \
               __device__ BlockRadixSort(TempStorage& room) : room_(&room) {} \
               __device__ void keys_(K (&keys)[I]) { \
               for (int i = 0; i < I; ++i) room_->all[i * N + threadIdx.x] = keys[i]; __syncthreads(); \
               for (int i = 0; i < I; ++i) keys[i] = room_->all[threadIdx.x * I + i]; } \
               __device__ void values_(V (&values)[I]) { \
               for (int i = 0; i < I; ++i) room_->values[i * N + threadIdx.x] = values[i]; __syncthreads(); \
               for (int i = 0; i < I; ++i) values[i] = room_->values[threadIdx.x * I + i]; } \
               __device__ void Sort(K (&keys)[I]) { keys_(keys); } \
               __device__ void Sort(K (&keys)[I], int begin, int end) { keys_(keys); } \
               __device__ void SortDescending(K (&keys)[I]) { keys_(keys); } \
               __device__ void Sort(K (&keys)[I], V (&values)[I]) { keys_(keys); values_(values); } \
               __device__ void SortDescending(K (&keys)[I], V (&values)[I]) { keys_(keys); values_(values); } };\n",
    },
    Part {
        words: &["cub::Max", "cub::Min", "cub::Sum"],
        text: "struct Max { template <class A> __device__ A operator()(A a, A b) const { return a < b ? b : a; } };\n\
               struct Min { template <class A> __device__ A operator()(A a, A b) const { return b < a ? b : a; } };\n\
               struct Sum { template <class A> __device__ A operator()(A a, A b) const { return a + b; } };\n",
    },
    Part {
        words: &["::invoke_one"],
        text: "template <class G, class F, class... A> __device__ void invoke_one(G group, F act, A... with) { \
               if (group.thread_rank() == 0) act(with...); }\n\
               template <class G, class F, class... A> __device__ auto invoke_one_broadcast(G group, F act, A... with) { \
               decltype(act(with...)) result; if (group.thread_rank() == 0) result = act(with...); \
               return group.shfl(result, 0); }\n",
    },
];

/// The declarations of what a source uses, none where it uses nothing of that.
pub(super) fn of(source: &str) -> Option<String> {
    // Most sources name no part of the library at all.
    ["std::", "cuda::", "make_", "invoke_one", "cub::", "thrust::"]
        .iter()
        .find_map(|word| memmem::find(source.as_bytes(), word.as_bytes()))?;
    let is_used = |part: &&Part| {
        part.words.iter().any(|word| memmem::find(source.as_bytes(), word.as_bytes()).is_some())
    };
    let all: String = PARTS.iter().filter(is_used).map(|part| part.text).collect();
    (!all.is_empty()).then_some(all)
}
