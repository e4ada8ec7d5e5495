#include "problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "bad_graph.hpp"

namespace isotherm {
namespace {

constexpr double gauge_of_peeled = 0.1;
// Entries of a graph up to which it is reduced to begin with: its vectors are in caches, where
// steps are so quick that it is the rows' lengths and gaps that cost.
constexpr std::int64_t few_entries = 16'000'000;
// Of directions, from which on the order of rows matters, and how far apart neighbours may be; and
// how many of them are looked at.
constexpr std::size_t many_bytes = 2 << 20;
constexpr std::int64_t nearby = 1 << 14, sample = 1 << 12;

void raise(double& a, double b) {
    if (a == a && !(a > b)) a = b;  // keeps a NaN
}

std::vector<std::uint8_t> kinds_of(const std::uint8_t* free, std::int64_t n) {
    std::vector<std::uint8_t> kind(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) kind[i] = free[i] ? moving : held;
    return kind;
}

template <class T>
T within(T value, T low, T high) {
    return value < low ? low : value > high ? high : value;
}

}  // namespace

Problem::Problem(const Graph& graph, const std::uint8_t* free, const double* degrees,
                 const double* ties, double leak, bool root, bool peeling, int threads,
                 const Kernels& kernels, bool reducing)
    : kind_(kinds_of(free, graph.n_nodes)),
      mass_(static_cast<std::size_t>(padded(graph.n_nodes)), 0.0f),
      M_{graph, kind_.data(), degrees, ties, mass_.data(), 0.0, leak, root, gauge_of_peeled},
      kernels_(kernels),
      threads_(threads) {
    const std::int64_t n = graph.n_nodes;
    cuts_ = system_cuts_ = cut_rows(graph);
    for_nodes([&](std::int64_t, std::int64_t first, std::int64_t last) {
        check_ends(graph, first, last);
    });
    std::vector<double> pivots(degrees, degrees + n);
    bool any_leaves = false;
    for (std::int64_t i = 0; i < n; ++i) {
        pivots[i] *= 1 + leak;
        any_leaves |= kind_[i] == moving && graph.start[i + 1] - graph.start[i] == 1;
    }
    Fold fold;
    if (peeling && reducing && is_worth_folding(graph, kind_.data())) {
        fold = fold_graph(M_, kind_.data(), pivots.data(), threads_);
    } else if (peeling && any_leaves) {
        peel_ = peel_trees(M_, kind_.data(), pivots.data());
    }
    for (std::int64_t i = 0; i < n; ++i) {
        if (kind_[i] == moving) M_.largest_pivot = std::max(M_.largest_pivot, pivots[i]);
    }
    if (M_.largest_pivot == 0) M_.largest_pivot = 1;  // nothing moves
    for_nodes([&](std::int64_t, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            if (kind_[i] != moving) continue;
            mass_[i] = static_cast<float>(pivots[i] / M_.largest_pivot);
        }
    });
    whole_ = whole(M_);
    if (reducing) reduce(std::move(fold));
    else find_exits();
}

// Of the graph's own rows.
void Problem::find_exits() {
    exits_.assign(mass_.size(), 0.0f);
    const std::vector<double> leaving = exits_of_nodes(M_, threads_);
    for (std::int64_t i = 0; i < M_.graph.n_nodes; ++i) {
        if (kind_[i] != moving) continue;
        exits_[i] = static_cast<float>(leaving[i] / M_.largest_pivot);
        whole_.all_exits += leaving[i] / M_.largest_pivot;
    }
    whole_.exits = exits_.data();
}

bool Problem::is_small(std::int64_t n_entries) { return n_entries <= few_entries; }

void Problem::reduce(Fold fold) {
    if (reduced_) return;
    reduced_ = std::make_unique<Reduced>(M_, whole_, std::move(fold), threads_);
    exits_ = {};
    cut();
}

// Cuts the rows of a reduced system into chunks.
void Problem::cut() {
    ++version_;
    const std::int64_t* const start = reduced_->system().start;
    system_cuts_ = cut_rows(reduced_->system().n_rows, [&](std::int64_t r) { return start[r]; });
}

bool Problem::is_scattered(int width) const {
    const System& M = system();
    if (is_reordered_ || M.n_rows * width * sizeof(std::uint16_t) < many_bytes) return false;
    const std::int64_t n_entries = M.start[M.n_rows];
    std::int64_t looked_at = 0, near = 0, row = 0;
    for (std::int64_t e = 0; e < n_entries; e += 1 + n_entries / sample) {
        while (M.start[row + 1] <= e) ++row;
        ++looked_at;
        near += std::abs(M.ends[e] - row) <= nearby;
    }
    return 2 * near < looked_at;
}

std::vector<std::int32_t> Problem::reorder() {
    const bool was_reduced = is_reduced();
    reduce();
    std::vector<std::int32_t> before = reduced_->reorder(threads_);
    is_reordered_ = true;
    cut();
    if (!was_reduced) before.clear();
    return before;
}

std::shared_ptr<const Factor> Problem::factor() {
    reduce();
    if (!factor_) {
        const std::vector<double> exits = reduced_->exits(M_, threads_);
        factor_ = std::make_shared<Factor>(reduced_->system(), exits.data());
    }
    return factor_;
}

template <class T>
Levels Problem::residual(const Task<T>& task) const {
    Levels all{};
    std::mutex mutex;
    for_nodes([&](std::int64_t, std::int64_t first, std::int64_t last) {
        Levels part{};
        if constexpr (sizeof(T) == 4) {
            kernels_.residual_f(M_, task, first, last, part);
        } else {
            kernels_.residual_d(M_, task, first, last, part);
        }
        const std::lock_guard<std::mutex> guard(mutex);
        for (int l = 0; l < max_width; ++l) raise(all.columns[l], part.columns[l]);
        raise(all.hidden, part.hidden);
    });
    return all;
}

double Problem::exit_residual(const double* h, float* Z, int stride) const {
    constexpr std::int64_t ahead = 32;  // entries, as in the kernels
    const std::int64_t stop = M_.graph.n_entries() - ahead;
    double all = 0;
    std::mutex mutex;
    for_nodes([&](std::int64_t, std::int64_t first, std::int64_t last) {
        double most = 0;
        for (std::int64_t i = first; i < last; ++i) {
            const std::int64_t row = row_of(i);
            if (row >= 0) Z[row * stride] = 0.0f;
            if (kind_[i] == held) continue;
            double flow = 0;
            for (std::int64_t e = M_.graph.start[i]; e < M_.graph.start[i + 1]; ++e) {
                if (e < stop) __builtin_prefetch(h + M_.graph.ends[e + ahead]);
                flow += M_.graph.weight(e) * h[M_.graph.ends[e]];
            }
            const double g = gauge(M_, i), r = g + flow - (1 + M_.leak) * M_.degrees[i] * h[i];
            raise(most, std::fabs(r) / g);
            if (kind_[i] == moving) Z[row * stride] = static_cast<float>(r / pivot(i));
        }
        const std::lock_guard<std::mutex> guard(mutex);
        raise(all, most);
    });
    return all;
}

double Problem::greatest(const double* h) const {
    double most[4] = {};  // so that maxima need not wait for each other
    std::int64_t i = 0;
    for (; i + 4 <= M_.graph.n_nodes; i += 4) {
        for (int k = 0; k < 4; ++k) most[k] = std::max(most[k], h[i + k]);
    }
    for (; i < M_.graph.n_nodes; ++i) most[0] = std::max(most[0], h[i]);
    return std::max({most[0], most[1], most[2], most[3]});
}

template <class T>
void Problem::hang(const Columns<T>& X, double* h, const double* low, const double* high,
                   const Heat& passed, const double* folded) const {
    if constexpr (sizeof(T) == 4) kernels_.hang_f(fold().view(), X, h, low, high, folded);
    else kernels_.hang_d(fold().view(), X, h, low, high, folded);
    for (std::size_t k = peel_.child.size(); k-- > 0;) {
        const std::int64_t i = peel_.child[k], p = peel_.parent[k];
        const double* const heat = passed.at(i);
        for (int l = 0; l < X.count; ++l) {
            const double rise = heat ? heat[l] / peel_.pivot[k] : 0.0;
            const double value = rise + peel_.ratio[k] * X.first[p * X.stride + l];
            X.first[i * X.stride + l] =
                within(static_cast<T>(value), static_cast<T>(low[l]), static_cast<T>(high[l]));
        }
        if (h) h[i] = peel_.rise[k] + peel_.ratio[k] * h[p];
    }
}

template <class T>
void Problem::settle(const Columns<T>& X, double* h, const double* low, const double* high,
                     const Heat& passed, const double* folded) const {
    T least[max_width] = {}, most[max_width] = {};
    std::copy(low, low + X.count, least);
    std::copy(high, high + X.count, most);
    for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        for (std::int64_t row = first; row < last; ++row) {
            const std::int64_t i = node_of(row);
            if (kind_[i] == held) continue;
            T* values = X.first + i * X.stride;
            for (int l = 0; l < X.count; ++l) values[l] = within(values[l], least[l], most[l]);
        }
    });
    hang(X, h, low, high, passed, folded);
}

template Levels Problem::residual<float>(const Task<float>&) const;
template Levels Problem::residual<double>(const Task<double>&) const;
template void Problem::hang<float>(const Columns<float>&, double*, const double*, const double*,
                              const Heat&, const double*) const;
template void Problem::hang<double>(const Columns<double>&, double*, const double*, const double*,
                               const Heat&, const double*) const;
template void Problem::settle<float>(const Columns<float>&, double*, const double*, const double*,
                                const Heat&, const double*) const;
template void Problem::settle<double>(const Columns<double>&, double*, const double*, const double*,
                                 const Heat&, const double*) const;

}  // namespace isotherm
