#include "superpose.hpp"

#include <cmath>
#include <mutex>
#include <vector>

#include "rounding.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

constexpr std::int64_t nodes_per_chunk = 1 << 13;

// Nodes [first, last).
template <class T>
void superpose_rows(const Superposition<T>& sum, std::int64_t first, std::int64_t last, T* X,
                    std::vector<double>& level) {
    const auto K = static_cast<std::size_t>(sum.columns);
    // Each term is a product and an addition; as many again cover the last operations.
    const double unit = 2.02 * static_cast<double>(sum.n_terms + 2) * unit_roundoff;
    const std::vector<T> low(sum.low, sum.low + K), high(sum.high, sum.high + K);
    std::vector<double> numbers(K), roundings(K);
    double* const exact = numbers.data();
    double* const rounding = roundings.data();
    for (std::int64_t i = first; i < last; ++i) {
        const T* const own = sum.base + i * K;
        T* const out = X + i * K;
        const double h = sum.exits[i], inverse = h > 0 ? 1 / h : 0;
        for (std::size_t k = 0; k < K; ++k) {
            exact[k] = own[k];
            rounding[k] = std::fabs(exact[k]);
        }
        for (std::int64_t m = 0; m < sum.n_terms; ++m) {
            const double v = sum.terms[m * sum.n_nodes + i];
            const double* const share = sum.shares + m * K;
            for (std::size_t k = 0; k < K; ++k) {
                exact[k] += v * share[k];
                rounding[k] += std::fabs(v * share[k]);
            }
        }
        for (std::size_t k = 0; k < K; ++k) {
            const T x = static_cast<T>(exact[k]), most = x > high[k] ? high[k] : x;
            out[k] = most < low[k] ? low[k] : most;
        }
        if (!(h > 0)) continue;
        for (std::size_t k = 0; k < K; ++k) {
            const double off = std::fabs(out[k] - exact[k]) + unit * rounding[k];
            level[k] = upper(level[k], inverse * off);
        }
    }
}

}  // namespace

template <class T>
void superpose(const Superposition<T>& sum, T* X, double* level, int threads) {
    std::mutex mutex;
    for (std::int64_t k = 0; k < sum.columns; ++k) level[k] = 0;
    for_pieces(threads, sum.n_nodes, nodes_per_chunk, [&](std::int64_t first, std::int64_t last) {
        std::vector<double> found(static_cast<std::size_t>(sum.columns));
        superpose_rows(sum, first, last, X, found);
        const std::lock_guard<std::mutex> lock(mutex);
        for (std::int64_t k = 0; k < sum.columns; ++k) level[k] = upper(level[k], found[k]);
    });
    // Its own rounding.
    for (std::int64_t k = 0; k < sum.columns; ++k) level[k] *= 1 + 8 * unit_roundoff;
}

template void superpose<float>(const Superposition<float>&, float*, double*, int);
template void superpose<double>(const Superposition<double>&, double*, double*, int);

}  // namespace isotherm
