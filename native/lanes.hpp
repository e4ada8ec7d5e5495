// Rows of up to 16 numbers as vectors of the compiler, for the instruction set at hand.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace isotherm {
namespace {  // each instruction set has its own copy

template <class T, int W>
struct VecOf {
    typedef T type __attribute__((vector_size(sizeof(T) * W)));
};
template <class T, int W>
using Vec = typename VecOf<T, W>::type;

template <class T, int W>
inline Vec<T, W> load_row(const T* row) {
    Vec<T, W> v;
    std::memcpy(&v, row, sizeof v);
    return v;
}

// Rows of half-precision numbers, of a size below 2^15.
#if defined(__F16C__)
template <int W>
inline Vec<float, W> load_halves(const std::uint16_t* row) {
#if defined(__AVX512F__)
    if constexpr (W == 16) {
        const auto halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
        return _mm512_maskz_cvtph_ps(0xffff, halves);
    } else
#endif
    if constexpr (W == 16) {
        const Vec<float, 8> low = load_halves<8>(row), high = load_halves<8>(row + 8);
        return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                                       15);
    } else if constexpr (W == 8) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row)));
    } else {
        __m128i halves = _mm_setzero_si128();
        std::memcpy(&halves, row, W * sizeof *row);
        const __m128 floats = _mm_cvtph_ps(halves);
        Vec<float, W> v;
        std::memcpy(&v, &floats, sizeof v);
        return v;
    }
}

template <int W>
inline void store_halves(std::uint16_t* row, Vec<float, W> v) {
    constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#if defined(__AVX512F__)
    if constexpr (W == 16) {
        const auto halves = _mm512_maskz_cvtps_ph(0xffff, v, nearest);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(row), halves);
    } else
#endif
    if constexpr (W == 16) {
        store_halves<8>(row, __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7));
        store_halves<8>(row + 8, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
    } else if constexpr (W == 8) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(row), _mm256_cvtps_ph(v, nearest));
    } else {
        __m128 floats = _mm_setzero_ps();
        std::memcpy(&floats, &v, sizeof v);
        const __m128i halves = _mm_cvtps_ph(floats, nearest);
        std::memcpy(row, &halves, W * sizeof *row);
    }
}
#else
// The exponent of a half has its bias of 15 where that of a float has 127: shifted into place, the
// number is too small by 2^112, subnormal or not.
template <int W>
inline Vec<float, W> load_halves(const std::uint16_t* row) {
    const auto halves = __builtin_convertvector((load_row<std::uint16_t, W>(row)),
                                                Vec<std::uint32_t, W>);
    const auto size = reinterpret_cast<Vec<float, W>>((halves & 0x7fffu) << 13) * 0x1p112f;
    return reinterpret_cast<Vec<float, W>>(reinterpret_cast<Vec<std::uint32_t, W>>(size) |
                                           (halves & 0x8000u) << 16);
}

template <int W>
inline void store_halves(std::uint16_t* row, Vec<float, W> v) {
    using Bits = Vec<std::uint32_t, W>;
    const Bits sign = reinterpret_cast<Bits>(v) & 0x80000000u;
    const auto size = reinterpret_cast<Vec<float, W>>(reinterpret_cast<Bits>(v) ^ sign);
    const auto bits = reinterpret_cast<Bits>(size * 0x1p-112f);
    const Bits rounded = (bits + 0xfffu + (bits >> 13 & 1u)) >> 13;  // to nearest, ties to even
    const auto halves = __builtin_convertvector(rounded | sign >> 16, Vec<std::uint16_t, W>);
    std::memcpy(row, &halves, sizeof halves);
}
#endif

// A register with its masks: piece k of a row has `per` numbers, of which `count` are wanted.
#if defined(__AVX512F__)
template <class T>
struct Piece {
    static constexpr int bytes = 64, per = bytes / sizeof(T);
    static unsigned mask(int count) {
        return count <= 0 ? 0u : count >= per ? (1u << per) - 1 : (1u << count) - 1;
    }
    static auto load(const float* p, int count) {
        return _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask(count)), p);
    }
    static auto load(const double* p, int count) {
        return _mm512_maskz_loadu_pd(static_cast<__mmask8>(mask(count)), p);
    }
    static void store(float* p, int count, __m512 v) {
        _mm512_mask_storeu_ps(p, static_cast<__mmask16>(mask(count)), v);
    }
    static void store(double* p, int count, __m512d v) {
        _mm512_mask_storeu_pd(p, static_cast<__mmask8>(mask(count)), v);
    }
};
#elif defined(__AVX2__)
template <class T>
struct Piece {
    static constexpr int bytes = 32, per = bytes / sizeof(T);
    static __m256i mask(const float*, int count) {
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(count),
                                  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    }
    static __m256i mask(const double*, int count) {
        return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
    }
    static auto load(const float* p, int count) { return _mm256_maskload_ps(p, mask(p, count)); }
    static auto load(const double* p, int count) { return _mm256_maskload_pd(p, mask(p, count)); }
    static void store(float* p, int count, __m256 v) { _mm256_maskstore_ps(p, mask(p, count), v); }
    static void store(double* p, int count, __m256d v) {
        _mm256_maskstore_pd(p, mask(p, count), v);
    }
};
#else
template <class T>
struct Piece {
    static constexpr int bytes = 1 << 20;  // none: numbers are taken one by one
};
#endif

// The first `lanes` numbers (at most W, at least none) of a row that may be the last: nothing
// beyond them is touched.
template <class T, int W>
inline Vec<T, W> load_lanes(const T* row, int lanes) {
    if (lanes == W) return load_row<T, W>(row);
    Vec<T, W> v{};
    if constexpr (sizeof v % Piece<T>::bytes == 0) {
        constexpr int per = Piece<T>::per;
        for (int part = 0; part < W / per; ++part) {
            const auto piece = Piece<T>::load(row + part * per, lanes - part * per);
            std::memcpy(reinterpret_cast<char*>(&v) + part * sizeof piece, &piece, sizeof piece);
        }
    } else {
        for (int l = 0; l < W && l < lanes; ++l) v[l] = row[l];
    }
    return v;
}

template <class T, int W>
inline void store_lanes(T* row, Vec<T, W> v, int lanes) {
    if (lanes == W) {
        std::memcpy(row, &v, sizeof v);
        return;
    }
    if constexpr (sizeof v % Piece<T>::bytes == 0) {
        constexpr int per = Piece<T>::per;
        for (int part = 0; part < W / per; ++part) {
            auto piece = Piece<T>::load(row, 0);
            std::memcpy(&piece, reinterpret_cast<const char*>(&v) + part * sizeof piece,
                        sizeof piece);
            Piece<T>::store(row + part * per, lanes - part * per, piece);
        }
    } else {
        for (int l = 0; l < W && l < lanes; ++l) row[l] = v[l];
    }
}

template <class To, int W, class V>
inline Vec<To, W> as(V v) {
    return __builtin_convertvector(v, Vec<To, W>);
}

template <class V>
inline V larger(V a, V b) {
    return a > b ? a : b;
}

// The same for proofs, which must not lose a NaN on either side.
template <class V>
inline V larger_or_nan(V a, V b) {
    const V r = a > b ? a : b;
    return a != a ? a : r;
}

template <class V>
inline V size_of(V v) {
    return v < 0 ? -v : v;
}

}  // namespace
}  // namespace isotherm
