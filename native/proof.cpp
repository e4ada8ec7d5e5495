#include "proof.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include "buffer.hpp"
#include "rounding.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// As in isotherm/solvers/certificate.py.
constexpr double slack = 1 + 16 * unit_roundoff, least_column = 0x1p-400;

// The larger of each pair; a NaN stays.
void raise(std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t k = 0; k < a.size(); ++k) a[k] = upper(a[k], b[k]);
}

constexpr std::int64_t most_packed = 1 << 22;  // numbers; more would take too much room
constexpr std::int64_t nodes_per_piece = 1 << 14;

// The rows of a claim packed, if it is one of few columns.
template <class T>
Buffer<double> packed_rows(const Claim<T>& claim, int threads) {
    const std::int64_t n = claim.graph.n_nodes, K = claim.columns, width = K == 1 ? 2 : 4;
    if (K > 3 || n * width > most_packed) return {};
    Buffer<double> rows(n * width);
    for_pieces(threads, n, nodes_per_piece, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            double* const row = rows.get() + i * width;
            row[0] = claim.h[i];
            for (std::int64_t k = 0; k < K; ++k) row[k + 1] = claim.X[i * K + k];
        }
    });
    return rows;
}

}  // namespace

Evidence::Evidence(std::int64_t columns)
    : level(static_cast<std::size_t>(columns), 0.0),
      rounding(level),
      relative(level),
      high(level.size(), -infinity),
      minus_low(high),
      least_degree(infinity),
      greatest_degree(0),
      least_exit(infinity),
      greatest_exit(0) {}

void Evidence::add(const Evidence& other) {
    raise(level, other.level);
    raise(rounding, other.rounding);
    raise(relative, other.relative);
    raise(high, other.high);
    raise(minus_low, other.minus_low);
    least_degree = std::min(least_degree, other.least_degree);
    greatest_degree = std::max(greatest_degree, other.greatest_degree);
    least_exit = std::min(least_exit, other.least_exit);
    greatest_exit = std::max(greatest_exit, other.greatest_exit);
    n_nodes += other.n_nodes;
    stray |= other.stray;
}

template <class T>
Evidence prove(const Claim<T>& asked, int threads, const Prover& prover, bool packed) {
    Claim<T> claim = asked;
    packed = packed && !claim.drains;  // else h is looked at only once
    const Buffer<double> rows = packed ? packed_rows(claim, threads) : Buffer<double>{};
    if (rows.get() != nullptr) {
        claim.packed = rows.get();
        claim.width_packed = claim.columns == 1 ? 2 : 4;
    }
    // With many columns an entry takes so many times as long as it does in a step.
    const auto cuts = cut_rows(claim.graph.n_nodes, [&](std::int64_t i) {
        return claim.graph.start[i] * (claim.columns + 8) / 6;
    });
    Evidence all(claim.columns);
    std::mutex mutex;
    for_cuts(threads, cuts, [&](std::int64_t, std::int64_t first, std::int64_t last) {
        Evidence part(claim.columns);
        if constexpr (sizeof(T) == 4) prover.prove_f(claim, first, last, part);
        else prover.prove_d(claim, first, last, part);
        const std::lock_guard<std::mutex> guard(mutex);
        all.add(part);
    });
    return all;
}

void find_drains(const Claim<double>& claim, int threads, const Prover& prover, double* drains) {
    for_cuts(threads, cut_rows(claim.graph), [&](std::int64_t, std::int64_t first, std::int64_t last) {
        prover.drain(claim, first, last, drains);
    });
}

template <class T>
double certify(const Claim<T>& claim, const Evidence& found, const Given& given,
               const Certificate& certificate) {
    const auto in_range = [](double number) { return least_covered <= number && number <= covered; };
    bool usual = in_range(found.least_degree) && in_range((1 + claim.leak) * found.greatest_degree) &&
                 in_range(found.least_exit) && in_range(found.greatest_exit) && !found.stray && found.n_nodes == given.n_free;
    double bound = 0;
    for (std::int64_t k = 0; k < claim.columns; ++k) {
        const double low = given.low[k], high = given.high[k], level = found.level[k] * slack;
        usual = usual && level < infinity && found.high[k] != 0 && -covered <= low && high <= covered;
        const bool within = low <= -found.minus_low[k] && found.high[k] <= high;
        certificate.columns[k] = std::max(level, least_column);
        certificate.spans[k] = within ? (high - low) * (1 + 4 * unit_roundoff) : infinity;
        const double most = found.greatest_exit * certificate.columns[k];
        bound = std::max(bound, std::min(most, certificate.spans[k]));
    }
    for (std::int64_t s = 0; usual && s < given.n_held; ++s) {
        const T* const row = claim.X + given.boundary[s] * claim.columns;
        const double* const value = given.values + s * claim.columns;
        for (std::int64_t k = 0; k < claim.columns; ++k) usual &= row[k] == value[k];
    }
    for (std::int64_t i = 0; usual && i < claim.graph.n_nodes; ++i) {
        const double none = std::numeric_limits<double>::quiet_NaN();
        certificate.nodes[i] = given.unreached[i] ? none : claim.h[i];
    }
    return usual ? bound : -1;
}

template double certify<float>(const Claim<float>&, const Evidence&, const Given&,
                               const Certificate&);
template double certify<double>(const Claim<double>&, const Evidence&, const Given&,
                                const Certificate&);
template Evidence prove<float>(const Claim<float>&, int, const Prover&, bool);
template Evidence prove<double>(const Claim<double>&, int, const Prover&, bool);

}  // namespace isotherm
