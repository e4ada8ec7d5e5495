// Compiled once per instruction set, with ISOTHERM_KERNELS naming the superposer it defines. See
// superpose.hpp.
#include "superpose.hpp"

#include "instruction_set.hpp"
#include "lanes.hpp"

namespace isotherm {
namespace {

constexpr double unit_roundoff = 0x1p-53;

// N columns of node i, from `column` on; by_h: 1 / h, or 0 where it does not count.
template <int N, class T>
inline void add_up_columns(const Superposition<T>& sum, std::int64_t i, double by_h,
                           std::int64_t column, T* __restrict X, double* __restrict level) {
    using D = Row<double, N>;
    D exact = convert<double, N>(sum.base + i * sum.columns + column);
    D rounding = size_of(exact);
    for (std::int64_t m = 0; m < sum.n_terms; ++m) {
        const double v = sum.terms[m * sum.n_nodes + i];
        const D term = v * load_row<double, N>(sum.shares + m * sum.columns + column);
        exact += term;
        rounding += size_of(term);
    }
    const auto low = as<T>(load_row<double, N>(sum.low + column));
    const auto high = as<T>(load_row<double, N>(sum.high + column));
    const auto x = clipped(as<T>(exact), low, high);
    store_row(X + i * sum.columns + column, x);
    if (by_h == 0) return;
    // Each term is a product and an addition; as many again cover the last operations.
    const double unit = 2.02 * static_cast<double>(sum.n_terms + 2) * unit_roundoff;
    const D off = size_of(as<double>(x) - exact) + unit * rounding;
    const D worst = load_row<double, N>(level + column);
    store_row(level + column, larger_or_nan(worst, by_h * off));
}

template <class T>
void add_up(const Superposition<T>& given, std::int64_t first, std::int64_t last, T* X,
            double* level) {
    const Superposition<T> sum = given;  // which nothing that is written can change
    for (std::int64_t i = first; i < last; ++i) {
        const double by_h = sum.exits[i] > 0 ? 1 / sum.exits[i] : 0;
        std::int64_t k = 0;
        for (; k + 8 <= sum.columns; k += 8) add_up_columns<8>(sum, i, by_h, k, X, level);
        for (; k + 2 <= sum.columns; k += 2) add_up_columns<2>(sum, i, by_h, k, X, level);
        if (k < sum.columns) add_up_columns<1>(sum, i, by_h, k, X, level);
    }
}

constexpr Superposer superposer = {add_up<float>, add_up<double>};

}  // namespace

const Superposer& ISOTHERM_NAMED(superposer_)() { return superposer; }

}  // namespace isotherm
