//! What kernels use of the standard library, as far as it holds numbers: declared here in our own words, with the names of the
//! library, so that who translates a kernel reads it like any other structure.

use memchr::memmem;

/// A part of the library, and the words that tell that a source uses it.
struct Part {
    words: &'static [&'static str],
    text: &'static str,
}

const PARTS: [Part; 7] = [
    Part {
        words: &["std::array"],
        text: "template <class T, unsigned long N> struct array { T elements[N]; \
               __device__ static constexpr unsigned long size() { return N; } \
               __device__ T* data() { return elements; } __device__ T* begin() { return elements; } \
               __device__ T* end() { return elements + N; } \
               __device__ T& front() { return elements[0]; } __device__ T& back() { return elements[N - 1]; } \
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
               template <class A> __device__ tuple<A> make_tuple(A a) { return {a}; }\n\
               template <class A, class B> __device__ tuple<A, B> make_tuple(A a, B b) { return {a, b}; }\n\
               template <class A, class B, class C> __device__ tuple<A, B, C> make_tuple(A a, B b, C c) { return {a, b, c}; }\n",
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
];

/// The declarations of what a source uses, none where it uses nothing of that.
pub(super) fn of(source: &str) -> Option<String> {
    // Most sources name no part of the library at all.
    ["std::", "cuda::", "make_"].iter().find_map(|word| memmem::find(source.as_bytes(), word.as_bytes()))?;
    let is_used = |part: &&Part| {
        part.words.iter().any(|word| memmem::find(source.as_bytes(), word.as_bytes()).is_some())
    };
    let all: String = PARTS.iter().filter(is_used).map(|part| part.text).collect();
    (!all.is_empty()).then_some(all)
}
