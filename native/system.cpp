#include "system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bad_graph.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

constexpr std::int64_t rows_per_piece = 1 << 13;
// Rows of this many nodes in a row are sorted by their number of entries, so that processors guess
// right when a row ends. Farther than that no node is moved: its neighbours may be near it.
constexpr std::int64_t window = 1 << 15;
// The same of rows that have been put next to their neighbours.
constexpr std::int64_t close_window = 1 << 11;
constexpr int longest_sorted = 256;  // entries; longer rows are taken as they come

// A stable sort of nodes by their number of entries, the fewest first.
void sort_by_length(std::int32_t* first, std::int32_t* last, const std::int32_t* lengths,
                    std::vector<std::int32_t>& sorted) {
    std::int64_t places[longest_sorted + 2] = {};
    const auto key = [&](std::int32_t i) { return std::min(lengths[i], longest_sorted); };
    for (const std::int32_t* i = first; i != last; ++i) ++places[key(*i) + 1];
    for (int k = 0; k <= longest_sorted; ++k) places[k + 1] += places[k];
    sorted.resize(static_cast<std::size_t>(last - first));
    for (const std::int32_t* i = first; i != last; ++i) sorted[places[key(*i)]++] = *i;
    std::copy(sorted.begin(), sorted.end(), first);
}

// The entries of each moving node that lead to others; at other nodes, anything.
std::vector<std::int32_t> count_moving(const Operator& M, int threads) {
    const Graph& graph = M.graph;
    const std::int64_t n = graph.n_nodes;
    std::vector<std::int32_t> counts(static_cast<std::size_t>(n), 0);
    if (2 * std::count(M.kind, M.kind + n, moving) <= n) {
        for_cuts(threads, cut_rows(graph), [&](std::int64_t, std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) {
                for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                    counts[i] += M.kind[graph.ends[e]] == moving;
                }
            }
        });
        return counts;
    }
    // Few do not move, and each entry that leads to one of them has a twin among its own.
    for (std::int64_t i = 0; i < n; ++i) {
        counts[i] += static_cast<std::int32_t>(graph.start[i + 1] - graph.start[i]);
        for (std::int64_t e = graph.start[i]; M.kind[i] != moving && e < graph.start[i + 1]; ++e) {
            --counts[graph.ends[e]];
        }
    }
    return counts;
}

// Rows in the order in which they are found from the first one, breadth first; then those of the
// next piece.
std::vector<std::int32_t> breadth_first(const System& system) {
    constexpr std::int64_t ahead = 8;  // rows ahead at which memory is asked for
    // Behind the last that is found there is room for one that was found before: which of them it is
    // is counted, not guessed.
    std::vector<std::int32_t> order(static_cast<std::size_t>(system.n_rows) + 1);
    std::vector<std::uint8_t> found(static_cast<std::size_t>(system.n_rows), 0);
    std::int64_t next = 0, count = 0;
    const auto find = [&](std::int32_t r) {
        order[count] = r;
        count += !found[r];
        found[r] = 1;
    };
    for (std::int32_t root = 0; root < system.n_rows; ++root) {
        for (find(root); next < count; ++next) {
            if (next % 65536 == 0) check_interrupt();
            if (next + 2 * ahead < count) {
                __builtin_prefetch(system.start + order[next + 2 * ahead]);
                __builtin_prefetch(system.ends + system.start[order[next + ahead]]);
            }
            const std::int64_t row = order[next];
            for (std::int64_t e = system.start[row]; e < system.start[row + 1]; ++e) {
                find(system.ends[e]);
            }
        }
    }
    order.pop_back();
    return order;
}

}  // namespace

System whole(const Operator& M) {
    System system{};
    system.n_rows = M.graph.n_nodes;
    system.start = M.graph.start;
    system.ends = M.graph.ends;
    system.graph_weights = M.graph.weights;
    system.mass = M.mass;
    system.root = M.root;
    // By (1 + τ) d, by which pivots of nodes without anything peeled off them are.
    system.unit = static_cast<float>(M.root ? std::sqrt((1 + M.leak) * M.largest_pivot) : 1 + M.leak);
    system.weight_unit = 1 / M.largest_pivot;
    return system;
}

Reduced::Reduced(const Operator& M, const System& whole, Fold fold, int threads)
    : system_(whole), fold_(std::move(fold)) {
    fill(M, fold_.empty() ? M.graph : fold_.rest(), threads);
    fold_.rest_start = {};
    fold_.rest_ends = Buffer<std::int32_t>();
    fold_.rest_weights = Buffer<double>();
}

std::vector<double> exits_of_nodes(const Operator& M, int threads) {
    const Graph& graph = M.graph;
    std::vector<double> exits(static_cast<std::size_t>(graph.n_nodes), 0.0);
    bool any_from_peeled = M.leak > 0;  // nodes pass heat on to where it leaks, or to a tie
    for (std::int64_t i = 0; M.ties && !any_from_peeled && i < graph.n_nodes; ++i) {
        any_from_peeled = M.kind[i] == peeled && M.ties[i] > 0;
    }
    if (any_from_peeled) {
        for_cuts(threads, cut_rows(graph), [&](std::int64_t, std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) {
                double stay = 0;
                for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                    if (M.kind[graph.ends[e]] == moving) stay += graph.weight(e);
                }
                exits[i] = std::max(M.mass[i] * M.largest_pivot - stay, 0.0);
            }
        });
        return exits;
    }
    for (std::int64_t j = 0; j < graph.n_nodes; ++j) {
        if (M.ties && M.kind[j] == moving) exits[j] += M.ties[j];
        for (std::int64_t e = graph.start[j]; M.kind[j] == held && e < graph.start[j + 1]; ++e) {
            exits[graph.ends[e]] += graph.weight(e);
        }
    }
    return exits;
}

std::vector<double> Reduced::exits(const Operator& M, int threads) const {
    const std::vector<double> of_nodes =
        fold_.empty() ? exits_of_nodes(M, threads) : std::vector<double>();
    const std::vector<double>& all = fold_.empty() ? of_nodes : fold_.rest_exits;
    std::vector<double> exits;
    exits.reserve(nodes_.size());
    for (const std::int32_t i : nodes_) exits.push_back(all[i] / M.largest_pivot);
    return exits;
}

// `graph` is that of M, or what is left of it.
void Reduced::fill(const Operator& M, const Graph& graph, int threads) {
    const std::int64_t n = M.graph.n_nodes;
    const std::vector<std::int32_t> lengths =
        fold_.empty() ? count_moving(M, threads) : std::move(fold_.rest_counts);
    row_of_.assign(static_cast<std::size_t>(n), -1);
    std::vector<std::int32_t> sorted;
    for (std::int64_t i = 0; i < n; ++i) {
        if (M.kind[i] != moving) continue;
        if (lengths[i] < 0) not_symmetric();
        nodes_.push_back(static_cast<std::int32_t>(i));
    }
    const auto n_rows = static_cast<std::int64_t>(nodes_.size());
    for (std::int64_t r = 0; r < n_rows; r += window) {
        sort_by_length(nodes_.data() + r, nodes_.data() + std::min(r + window, n_rows),
                       lengths.data(), sorted);
    }
    start_.assign(static_cast<std::size_t>(n_rows) + 1, 0);
    for (std::int64_t r = 0; r < n_rows; ++r) {
        row_of_[nodes_[r]] = static_cast<std::int32_t>(r);
        start_[r + 1] = start_[r] + lengths[nodes_[r]];
    }
    ends_ = Buffer<std::int32_t>(start_[n_rows], Contents::any);
    if (graph.weights) weights_ = Buffer<float>(start_[n_rows], Contents::any);
    mass_.assign(static_cast<std::size_t>(padded(n_rows)), 0.0f);
    const bool has_units = M.root || !fold_.empty();
    if (has_units) units_ = mass_;
    const auto cuts = cut_rows(n_rows, [&](std::int64_t r) { return start_[r]; });
    for_cuts(threads, cuts, [&](std::int64_t, std::int64_t first, std::int64_t last) {
        for (std::int64_t r = first; r < last; ++r) {
            const std::int64_t i = nodes_[r];
            // An end that has no row is written, too, and then replaced by the next one: no processor
            // could foresee which have.
            std::int64_t at = start_[r], e = graph.start[i];
            const std::int64_t full = start_[r + 1], sure = e + full - at;
            const std::int64_t end = fold_.empty() ? graph.start[i + 1] : sure;
            const auto put = [&](std::int64_t entry) {
                const std::int32_t row = row_of_[graph.ends[entry]];
                ends_[at] = row;
                if (graph.weights) {
                    weights_[at] = static_cast<float>(graph.weights[entry] / M.largest_pivot);
                }
                at += row >= 0;
            };
            for (; e < std::min(sure, end); ++e) put(e);
            for (; e < end && at < full; ++e) put(e);
            for (; e < end; ++e) at += row_of_[graph.ends[e]] >= 0;
            if (at != full) not_symmetric();
            mass_[r] = M.mass[i];
            if (has_units) units_[r] = static_cast<float>(M.mass[i] * M.largest_pivot / gauge(M, i));
        }
    });
    system_.n_rows = n_rows;
    exits_.assign(mass_.size(), 0.0f);
    const std::vector<double> leaving = exits(M, threads);
    std::copy(leaving.begin(), leaving.end(), exits_.begin());
    system_.all_exits = std::accumulate(leaving.begin(), leaving.end(), 0.0);
    lend();
}

// Lets the system see the arrays as they are.
void Reduced::lend() {
    system_.start = start_.data();
    system_.ends = ends_.get();
    system_.weights = weights_.get();
    system_.graph_weights = nullptr;
    system_.mass = mass_.data();
    system_.exits = exits_.data();
    if (!units_.empty()) system_.units = units_.data();
}

std::vector<std::int32_t> Reduced::reorder(int threads) {
    const std::int64_t n_rows = system_.n_rows;
    std::vector<std::int32_t> order = breadth_first(system_), lengths(order.size()), sorted;
    for (std::int64_t r = 0; r < n_rows; ++r) {
        lengths[r] = static_cast<std::int32_t>(start_[r + 1] - start_[r]);
    }
    for (std::int64_t r = 0; r < n_rows; r += close_window) {
        sort_by_length(order.data() + r, order.data() + std::min(r + close_window, n_rows),
                       lengths.data(), sorted);
    }
    std::vector<std::int32_t> nodes = nodes_, row_now(order.size());
    std::vector<std::int64_t> start = start_;
    std::vector<float> mass = mass_, exits = exits_, units = units_;
    for (std::int64_t r = 0; r < n_rows; ++r) {
        const std::int32_t before = order[r];
        row_now[before] = static_cast<std::int32_t>(r);
        nodes[r] = nodes_[before];
        start[r + 1] = start[r] + lengths[before];
        mass[r] = mass_[before];
        exits[r] = exits_[before];
        if (!units.empty()) units[r] = units_[before];
    }
    Buffer<std::int32_t> ends(start[n_rows], Contents::any);
    Buffer<float> weights;
    if (weights_.get()) weights = Buffer<float>(start[n_rows], Contents::any);
    for_pieces(threads, n_rows, rows_per_piece, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t r = first; r < last; ++r) {
            const std::int64_t from = start_[order[r]];
            for (std::int64_t k = 0; k < lengths[order[r]]; ++k) {
                ends[start[r] + k] = row_now[ends_[from + k]];
                if (weights.get()) weights[start[r] + k] = weights_[from + k];
            }
        }
    });
    // Only now, since what is interrupted must leave all as it was.
    for (std::int64_t r = 0; r < n_rows; ++r) row_of_[nodes[r]] = static_cast<std::int32_t>(r);
    nodes_ = std::move(nodes);
    start_ = std::move(start);
    ends_ = std::move(ends);
    weights_ = std::move(weights);
    mass_ = std::move(mass);
    exits_ = std::move(exits);
    units_ = std::move(units);
    lend();
    return order;
}

}  // namespace isotherm
