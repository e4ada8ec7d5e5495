// Rows of up to 16 numbers in registers of the instruction set at hand.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace isotherm {
namespace {  // each instruction set has its own copy

template <class T, int N>
struct VecOf {
    typedef T type __attribute__((vector_size(sizeof(T) * N)));
};
// N numbers in one register.
template <class T, int N>
using Vec = typename VecOf<T, N>::type;

#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX2__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

// --- one register -------------------------------------------------------------------------------

template <class T, int N>
inline Vec<T, N> load(const T* from) {
    Vec<T, N> v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

template <class T, int N>
inline void store(T* to, Vec<T, N> v) {
    std::memcpy(to, &v, sizeof v);
}

// Writes past the caches, where the instruction set can, what other threads will read: to own a line
// that they have in their caches would take longer. `to` is aligned to the size of v, and
// end_of_stream() comes before others read it.
template <class V>
inline void stream(void* to, V v) {
#if defined(__AVX512F__)
    if constexpr (sizeof v == 64) return _mm512_stream_si512(static_cast<__m512i*>(to), reinterpret_cast<__m512i>(v));
#endif
#if defined(__AVX2__)
    if constexpr (sizeof v == 32) return _mm256_stream_si256(static_cast<__m256i*>(to), reinterpret_cast<__m256i>(v));
    if constexpr (sizeof v == 16) return _mm_stream_si128(static_cast<__m128i*>(to), reinterpret_cast<__m128i>(v));
#endif
    std::memcpy(to, &v, sizeof v);
}
inline void end_of_stream() {
#if defined(__AVX2__)
    _mm_sfence();
#endif
}

#if defined(__AVX2__) && !defined(__AVX512F__)
// Masks of the first `count` numbers.
inline __m256i first_of_8(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline __m128i first_of_4(int count) {
    return _mm_cmpgt_epi32(_mm_set1_epi32(count), _mm_setr_epi32(0, 1, 2, 3));
}
inline __m256i first_4_of_64(int count) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
#endif

// The first `count` numbers, if there are so many, at least none: nothing beyond them is touched,
// since the row may be the last.
template <class T, int N>
inline Vec<T, N> load_some(const T* from, int count) {
    if (count >= N) return load<T, N>(from);
#if defined(__AVX512F__)
    const auto mask = static_cast<__mmask16>(count <= 0 ? 0u : (1u << count) - 1);
    constexpr bool floats = sizeof(T) == 4;
    if constexpr (floats && N == 16) return _mm512_maskz_loadu_ps(mask, from);
    else if constexpr (floats && N == 8) return _mm256_maskz_loadu_ps(static_cast<__mmask8>(mask), from);
    else if constexpr (floats && N == 4) return _mm_maskz_loadu_ps(static_cast<__mmask8>(mask), from);
    else if constexpr (!floats && N == 8) return _mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), from);
    else if constexpr (!floats && N == 4) return _mm256_maskz_loadu_pd(static_cast<__mmask8>(mask), from);
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4 && N == 8) return _mm256_maskload_ps(from, first_of_8(count));
    else if constexpr (sizeof(T) == 4 && N == 4) return _mm_maskload_ps(from, first_of_4(count));
    else if constexpr (sizeof(T) == 8 && N == 4) return _mm256_maskload_pd(from, first_4_of_64(count));
#endif
    Vec<T, N> v{};
    for (int l = 0; l < N && l < count; ++l) v[l] = from[l];
    return v;
}

template <class T, int N>
inline void store_some(T* to, Vec<T, N> v, int count) {
    if (count >= N) return store<T, N>(to, v);
#if defined(__AVX512F__)
    const auto mask = static_cast<__mmask16>(count <= 0 ? 0u : (1u << count) - 1);
    constexpr bool floats = sizeof(T) == 4;
    if constexpr (floats && N == 16) return _mm512_mask_storeu_ps(to, mask, v);
    else if constexpr (floats && N == 8) return _mm256_mask_storeu_ps(to, static_cast<__mmask8>(mask), v);
    else if constexpr (floats && N == 4) return _mm_mask_storeu_ps(to, static_cast<__mmask8>(mask), v);
    else if constexpr (!floats && N == 8) return _mm512_mask_storeu_pd(to, static_cast<__mmask8>(mask), v);
    else if constexpr (!floats && N == 4) return _mm256_mask_storeu_pd(to, static_cast<__mmask8>(mask), v);
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4 && N == 8) return _mm256_maskstore_ps(to, first_of_8(count), v);
    else if constexpr (sizeof(T) == 4 && N == 4) return _mm_maskstore_ps(to, first_of_4(count), v);
    else if constexpr (sizeof(T) == 8 && N == 4) return _mm256_maskstore_pd(to, first_4_of_64(count), v);
#endif
    for (int l = 0; l < N && l < count; ++l) to[l] = v[l];
}

// Numbers of half precision, of a size below 2^15.
template <int N>
inline Vec<float, N> load_halves(const std::uint16_t* from) {
#if defined(__F16C__)
#if defined(__AVX512F__)
    if constexpr (N == 16) {
        const auto halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        return _mm512_maskz_cvtph_ps(0xffff, halves);
    }
#endif
    if constexpr (N == 8) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    } else if constexpr (N <= 4) {
        __m128i halves = _mm_setzero_si128();
        std::memcpy(&halves, from, N * sizeof *from);
        const __m128 floats = _mm_cvtph_ps(halves);
        Vec<float, N> v;
        std::memcpy(&v, &floats, sizeof v);
        return v;
    }
#else
    // The exponent of a half has its bias of 15 where that of a float has 127: shifted into place,
    // the number is too small by 2^112, subnormal or not.
    using Bits = Vec<std::uint32_t, N>;
    const auto halves = __builtin_convertvector((load<std::uint16_t, N>(from)), Bits);
    const auto size = reinterpret_cast<Vec<float, N>>((halves & 0x7fffu) << 13) * 0x1p112f;
    return reinterpret_cast<Vec<float, N>>(reinterpret_cast<Bits>(size) | (halves & 0x8000u) << 16);
#endif
}

// Those of four places, put together in a register; compilers would do so elsewhere.
inline Vec<float, 4> four_halves(std::uint16_t a, std::uint16_t b, std::uint16_t c, std::uint16_t d) {
#if defined(__F16C__)
    __m128i halves = _mm_cvtsi32_si128(a);
    halves = _mm_insert_epi16(halves, b, 1);
    halves = _mm_insert_epi16(halves, c, 2);
    return _mm_cvtph_ps(_mm_insert_epi16(halves, d, 3));
#else
    const std::uint16_t halves[] = {a, b, c, d};
    return load_halves<4>(halves);
#endif
}

template <int N>
inline void store_halves(std::uint16_t* to, Vec<float, N> v) {
#if defined(__F16C__)
    constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#if defined(__AVX512F__)
    if constexpr (N == 16) {
        const auto halves = _mm512_maskz_cvtps_ph(0xffff, v, nearest);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), halves);
    }
#endif
    if constexpr (N == 8) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(v, nearest));
    } else if constexpr (N <= 4) {
        __m128 floats = _mm_setzero_ps();
        std::memcpy(&floats, &v, sizeof v);
        const __m128i halves = _mm_cvtps_ph(floats, nearest);
        std::memcpy(to, &halves, N * sizeof *to);
    }
#else
    using Bits = Vec<std::uint32_t, N>;
    const Bits sign = reinterpret_cast<Bits>(v) & 0x80000000u;
    const auto size = reinterpret_cast<Vec<float, N>>(reinterpret_cast<Bits>(v) ^ sign);
    const auto bits = reinterpret_cast<Bits>(size * 0x1p-112f);
    const Bits rounded = (bits + 0xfffu + (bits >> 13 & 1u)) >> 13;  // to nearest, ties to even
    const auto halves = __builtin_convertvector(rounded | sign >> 16, Vec<std::uint16_t, N>);
    std::memcpy(to, &halves, sizeof halves);
#endif
}

// The numbers at these places. GCC has the builtin from 12 on; before, it makes the same few
// instructions of numbers that are put together one by one.
template <class T, class V, int... places>
inline Vec<T, sizeof...(places)> picked(V v, std::integer_sequence<int, places...>) {
#if __has_builtin(__builtin_shufflevector)
    return __builtin_shufflevector(v, v, places...);
#else
    return Vec<T, sizeof...(places)>{v[places]...};
#endif
}

// Each of the first numbers as often as a row of W has lanes.
template <int W, int N, int... l>
inline Vec<float, N> each_repeated(Vec<float, N> v, std::integer_sequence<int, l...>) {
    return picked<float>(v, std::integer_sequence<int, (l / W)...>());
}

// Lanes that are D apart, exchanged.
template <int D, int N, int... l>
inline Vec<float, N> exchanged(Vec<float, N> v, std::integer_sequence<int, l...>) {
    return picked<float>(v, std::integer_sequence<int, (l ^ D)...>());
}

// In each lane, the sum of the W lanes around it.
template <int W, int N>
inline Vec<float, N> summed(Vec<float, N> v) {
    if constexpr (W > 1) {
        v += exchanged<W / 2, N>(v, std::make_integer_sequence<int, N>());
        v = summed<W / 2, N>(v);
    }
    return v;
}

// N of 2 N numbers: the first or the second half.
template <class T, int N, int... l>
inline Vec<T, N> half_of(Vec<T, 2 * N> v, int which, std::integer_sequence<int, l...>) {
    return which ? picked<T>(v, std::integer_sequence<int, (N + l)...>())
                 : picked<T>(v, std::integer_sequence<int, l...>());
}

template <class T, int N, int... l>
inline Vec<T, 2 * N> joined(Vec<T, N> a, Vec<T, N> b, std::integer_sequence<int, l...>) {
#if __has_builtin(__builtin_shufflevector)
    return __builtin_shufflevector(a, b, l...);
#else  // one by one, they would be taken apart
#if defined(__AVX512F__)
    if constexpr (N == 8) return _mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1);
#elif defined(__AVX2__)
    if constexpr (N == 4) return _mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1);
#endif
    return Vec<T, 2 * N>{(l < N ? a[l % N] : b[l % N])...};
#endif
}

// --- a row --------------------------------------------------------------------------------------

// W numbers in as many registers as it takes.
template <class T, int W>
struct Row {
    static constexpr int even = W & -W;  // numbers to which a row can be cut without a rest
    static constexpr int most = register_bytes / static_cast<int>(sizeof(T));
    static constexpr int per = even < most ? even : most;
    static constexpr int parts = W / per;
    Vec<T, per> part[parts] = {};

    T operator[](int l) const { return part[l / per][l % per]; }
    void add(int l, T x) { part[l / per][l % per] += x; }

    Row& operator+=(const Row& b) {
        for (int k = 0; k < parts; ++k) part[k] += b.part[k];
        return *this;
    }
    friend Row operator+(Row a, const Row& b) { return a += b; }
    friend Row operator-(Row a, const Row& b) {
        for (int k = 0; k < parts; ++k) a.part[k] -= b.part[k];
        return a;
    }
    friend Row operator*(Row a, const Row& b) {
        for (int k = 0; k < parts; ++k) a.part[k] *= b.part[k];
        return a;
    }
    friend Row operator*(T x, Row a) {
        for (int k = 0; k < parts; ++k) a.part[k] *= x;
        return a;
    }
};

// Register by register: as one piece of memory, a row would take a detour by the stack.
template <class T, int W>
inline Row<T, W> load_row(const T* from) {
    using R = Row<T, W>;
    R row;
    for (int k = 0; k < R::parts; ++k) row.part[k] = load<T, R::per>(from + k * R::per);
    return row;
}
template <class T, int W>
inline void store_row(T* to, const Row<T, W>& row) {
    using R = Row<T, W>;
    for (int k = 0; k < R::parts; ++k) store<T, R::per>(to + k * R::per, row.part[k]);
}

// The first `lanes` numbers, at most W.
template <class T, int W>
inline Row<T, W> load_lanes(const T* from, int lanes) {
    using R = Row<T, W>;
    R row;
    for (int k = 0; k < R::parts; ++k) {
        row.part[k] = load_some<T, R::per>(from + k * R::per, lanes - k * R::per);
    }
    return row;
}
template <class T, int W>
inline void store_lanes(T* to, const Row<T, W>& row, int lanes) {
    using R = Row<T, W>;
    for (int k = 0; k < R::parts; ++k) {
        store_some<T, R::per>(to + k * R::per, row.part[k], lanes - k * R::per);
    }
}

template <int W>
inline Row<float, W> load_row_of_halves(const std::uint16_t* from) {
    using R = Row<float, W>;
    R row;
    for (int k = 0; k < R::parts; ++k) row.part[k] = load_halves<R::per>(from + k * R::per);
    return row;
}
template <int W>
inline void store_row_of_halves(std::uint16_t* to, const Row<float, W>& row) {
    using R = Row<float, W>;
    for (int k = 0; k < R::parts; ++k) store_halves<R::per>(to + k * R::per, row.part[k]);
}

// The same numbers as another type; `from` has W of them.
template <class To, int W, class From>
inline Row<To, W> convert(const From* from) {
    using R = Row<To, W>;
    R row;
    for (int k = 0; k < R::parts; ++k) {
        row.part[k] = __builtin_convertvector((load<From, R::per>(from + k * R::per)),
                                              Vec<To, R::per>);
    }
    return row;
}
template <class To, class From, int W>
inline Row<To, W> as(const Row<From, W>& row) {
    using R = Row<To, W>;
    constexpr int per = R::per, from = Row<From, W>::per;
    R to;
    for (int k = 0; k < R::parts; ++k) {
        if constexpr (from > per) {  // doubles from a half of floats
            const auto half = half_of<From, per>(row.part[k / 2], k % 2,
                                                 std::make_integer_sequence<int, per>());
            to.part[k] = __builtin_convertvector(half, Vec<To, per>);
        } else if constexpr (from < per) {  // floats from two parts of doubles
            using Half = Vec<To, from>;
            to.part[k] = joined<To, from>(__builtin_convertvector(row.part[2 * k], Half),
                                          __builtin_convertvector(row.part[2 * k + 1], Half),
                                          std::make_integer_sequence<int, per>());
        } else {
            to.part[k] = __builtin_convertvector(row.part[k], Vec<To, per>);
        }
    }
    return to;
}

template <int W, class T>
inline Row<T, W> broadcast(T x) {
    Row<T, W> row;
    for (int k = 0; k < row.parts; ++k) row.part[k] += x;
    return row;
}

// Numbers of rows of W lanes, each as often as its row has lanes, in 16 lanes altogether. There must
// be 16 numbers.
template <int W>
inline Row<float, 16> spread(const float* numbers) {
    Row<float, 16> row;
    constexpr int per = Row<float, 16>::per;
    for (int k = 0; k < row.parts; ++k) {
        if constexpr (W >= per) row.part[k] += numbers[k * per / W];
        else row.part[k] = each_repeated<W, per>(load<float, per>(numbers + k * per / W),
                                                 std::make_integer_sequence<int, per>());
    }
    return row;
}

// In each of 16 lanes, the sum of all lanes of its row of W.
template <int W>
inline Row<float, 16> sums_of_rows(Row<float, 16> row) {
    constexpr int per = Row<float, 16>::per, parts = Row<float, 16>::parts;
    if constexpr (W > per) {
        for (int distance = W / per / 2; distance > 0; distance /= 2) {
            const Row<float, 16> before = row;
            for (int k = 0; k < parts; ++k) row.part[k] += before.part[k ^ distance];
        }
    }
    constexpr int own = W < per ? W : per;
    for (int k = 0; k < parts; ++k) row.part[k] = summed<own, per>(row.part[k]);
    return row;
}

template <class T, int W>
inline Row<T, W> larger(Row<T, W> a, const Row<T, W>& b) {
    for (int k = 0; k < a.parts; ++k) a.part[k] = a.part[k] > b.part[k] ? a.part[k] : b.part[k];
    return a;
}

// The same for proofs, which must not lose a NaN on either side.
template <class T, int W>
inline Row<T, W> larger_or_nan(Row<T, W> a, const Row<T, W>& b) {
    for (int k = 0; k < a.parts; ++k) {
        const auto x = a.part[k], y = x > b.part[k] ? x : b.part[k];
        a.part[k] = x != x ? x : y;
    }
    return a;
}

template <int W>
inline Row<float, W> root_of(Row<float, W> a) {
    for (int k = 0; k < a.parts; ++k) {
        constexpr int per = Row<float, W>::per;
#if defined(__AVX512F__)
        if constexpr (per == 16) a.part[k] = _mm512_maskz_sqrt_ps(0xffff, a.part[k]);
#endif
#if defined(__AVX2__)
        if constexpr (per == 8) a.part[k] = _mm256_sqrt_ps(a.part[k]);
#endif
        if constexpr (per * 4 < register_bytes || register_bytes == 16) {
            for (int l = 0; l < per; ++l) a.part[k][l] = __builtin_sqrtf(a.part[k][l]);
        }
    }
    return a;
}

// Within [low, high]; a NaN stays.
template <class T, int W>
inline Row<T, W> clipped(Row<T, W> a, const Row<T, W>& low, const Row<T, W>& high) {
    for (int k = 0; k < a.parts; ++k) {
        const auto most = a.part[k] > high.part[k] ? high.part[k] : a.part[k];
        a.part[k] = most < low.part[k] ? low.part[k] : most;
    }
    return a;
}

// 1 / x, and 0 where x is.
template <class T, int W>
inline Row<T, W> inverse_or_0(Row<T, W> a) {
    for (int k = 0; k < a.parts; ++k) {
        a.part[k] = a.part[k] > 0 ? 1 / a.part[k] : Vec<T, Row<T, W>::per>{};
    }
    return a;
}

// b where a is positive, else 0.
template <class T, int W>
inline Row<T, W> where_positive(const Row<T, W>& a, Row<T, W> b) {
    for (int k = 0; k < a.parts; ++k) {
        b.part[k] = a.part[k] > 0 ? b.part[k] : Vec<T, Row<T, W>::per>{};
    }
    return b;
}

template <class T, int W>
inline Row<T, W> size_of(Row<T, W> a) {
    for (int k = 0; k < a.parts; ++k) a.part[k] = a.part[k] < 0 ? -a.part[k] : a.part[k];
    return a;
}

}  // namespace
}  // namespace isotherm
