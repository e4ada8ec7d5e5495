// A random number for each entry of a matrix, by which it is compared with its transpose.
#pragma once

#include <cstdint>

namespace isotherm {
namespace {  // each instruction set has its own copy

// The finaliser of SplitMix64.
template <class U>
inline U mixed(U z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Of entries (i, j); U is one number or a vector of them. The same number from both ends of an edge,
// with a plus in the upper half of the matrix and a minus in the lower. Who knows the key can make a
// matrix whose marks add up to 0 though it is not symmetric: each process draws its own.
template <class U>
inline U marks(U i, U j, std::uint64_t key) {
    const U lower = j < i ? U{} + 1 : U{}, upper = j > i ? U{} + 1 : U{};
    const U z = mixed<U>(((lower ? j : i) << 32 | (lower ? i : j)) + key);
    return upper ? z : lower ? 0 - z : U{};
}

}  // namespace
}  // namespace isotherm
