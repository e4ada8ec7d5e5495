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
