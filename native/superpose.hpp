// Temperatures with others added to them, and by how much rounding takes the sum off.
#pragma once

#include <cstdint>

namespace isotherm {

// X = T + Σ_m V_m δ_m, moved within low and high. T has a row per node, of so many columns; V a row
// per term, of an entry per node; δ a row per term, of so many columns.
template <class T>
struct Superposition {
    std::int64_t n_nodes, columns, n_terms;
    const T *base, *terms;
    const double* shares;
    const double* exits;  // h: what happens at nodes where it is not positive does not count
    const double *low, *high;
};

// Writes X of nodes [first, last), and raises `level` as below.
struct Superposer {
    void (*add_up_f)(const Superposition<float>&, std::int64_t first, std::int64_t last, float* X,
                     double* level);
    void (*add_up_d)(const Superposition<double>&, std::int64_t first, std::int64_t last, double* X,
                     double* level);
};

const Superposer& superposer_plain();
#if defined(ISOTHERM_X86)
const Superposer& superposer_avx2();
const Superposer& superposer_avx512();
#endif

// Writes X, and into `level`, for each column, the greatest |X − (T + Σ_m V_m δ_m)| / h, with a bound
// on the rounding of that itself; NaN if there is one on the way.
template <class T>
void superpose(const Superposition<T>& sum, T* X, double* level, int threads,
               const Superposer& superposer);

}  // namespace isotherm
