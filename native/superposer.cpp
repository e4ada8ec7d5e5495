// Compiled once per instruction set, with ISOTHERM_KERNELS naming the superposer it defines. See
// superpose.hpp.
#include "superpose.hpp"

#include "instruction_set.hpp"
#include "lanes.hpp"

namespace isotherm {
namespace {

constexpr double unit_roundoff = 0x1p-53;

// Up to W columns, `lanes` of them from `column` on, of nodes [first, last).
template <int W, class T>
void add_up_lanes(const Superposition<T>& sum, std::int64_t column, int lanes, std::int64_t first,
                  std::int64_t last, T* X, double* level) {
    using D = Row<double, W>;
    // Each term is a product and an addition; as many again cover the last operations.
    const double unit = 2.02 * static_cast<double>(sum.n_terms + 2) * unit_roundoff;
    const auto low = as<T>(load_lanes<double, W>(sum.low + column, lanes));
    const auto high = as<T>(load_lanes<double, W>(sum.high + column, lanes));
    D worst = load_lanes<double, W>(level + column, lanes);
    for (std::int64_t i = first; i < last; ++i) {
        D exact = as<double>(load_lanes<T, W>(sum.base + i * sum.columns + column, lanes));
        D rounding = size_of(exact);
        for (std::int64_t m = 0; m < sum.n_terms; ++m) {
            const double v = sum.terms[m * sum.n_nodes + i];
            const D term = v * load_lanes<double, W>(sum.shares + m * sum.columns + column, lanes);
            exact += term;
            rounding += size_of(term);
        }
        const auto x = clipped(as<T>(exact), low, high);
        store_lanes(X + i * sum.columns + column, x, lanes);
        if (!(sum.exits[i] > 0)) continue;
        const D off = size_of(as<double>(x) - exact) + unit * rounding;
        worst = larger_or_nan(worst, (1 / sum.exits[i]) * off);
    }
    store_lanes(level + column, worst, lanes);
}

template <class T>
void add_up(const Superposition<T>& sum, std::int64_t first, std::int64_t last, T* X,
            double* level) {
    constexpr std::int64_t at_once = 64;  // nodes: few enough for a cache to have all their columns
    constexpr int widest = 8;
    for (; first < last; first += at_once) {
        const std::int64_t end = last - first < at_once ? last : first + at_once;
        for (std::int64_t k = 0; k < sum.columns; k += widest) {
            const auto left = static_cast<int>(sum.columns - k < widest ? sum.columns - k : widest);
            if (left == 1) add_up_lanes<1>(sum, k, left, first, end, X, level);
            else if (left == 2) add_up_lanes<2>(sum, k, left, first, end, X, level);
            else if (left <= 4) add_up_lanes<4>(sum, k, left, first, end, X, level);
            else add_up_lanes<widest>(sum, k, left, first, end, X, level);
        }
    }
}

constexpr Superposer superposer = {add_up<float>, add_up<double>};

}  // namespace

const Superposer& ISOTHERM_NAMED(superposer_)() { return superposer; }

}  // namespace isotherm
