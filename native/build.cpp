#include "build.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bad_graph.hpp"
#include "kernels.hpp"
#include "marks.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

constexpr std::int64_t edges_per_chunk = 1 << 16;
constexpr std::int64_t ahead = 12;  // edges
constexpr std::int64_t rows_per_chunk = 1 << 12;

using Entry = std::pair<std::int32_t, double>;

// Sorts one row and merges its duplicates; returns how many entries are left.
std::int64_t clean_row(std::int32_t* ends, std::int64_t count) {
    std::sort(ends, ends + count);
    return std::unique(ends, ends + count) - ends;
}

std::int64_t clean_row(std::int32_t* ends, double* weights, std::int64_t count,
                       std::vector<Entry>& row) {
    row.clear();
    for (std::int64_t k = 0; k < count; ++k) row.emplace_back(ends[k], weights[k]);
    std::sort(row.begin(), row.end());
    std::int64_t kept = 0;
    for (const auto& [end, weight] : row) {
        if (kept > 0 && ends[kept - 1] == end) {
            weights[kept - 1] += weight;
        } else {
            ends[kept] = end;
            weights[kept++] = weight;
        }
    }
    return kept;
}

// Closes the gaps that merged duplicates left; counts[i] entries of row i are good. In place: rows
// only move to the left, and there is no room for all of them twice.
void close_gaps(OwnGraph& graph, const std::int64_t* counts) {
    const std::int64_t n = graph.n_nodes;
    const auto pack = [&](auto& array) {
        std::int64_t to = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            std::memmove(array.get() + to, array.get() + graph.start[i],
                         static_cast<std::size_t>(counts[i]) * sizeof *array.get());
            to += counts[i];
        }
        array.shrink(to);
    };
    pack(graph.ends);
    if (graph.weights.get()) pack(graph.weights);
    for (std::int64_t i = 0; i < n; ++i) graph.start[i + 1] = graph.start[i] + counts[i];
    graph.n_entries = graph.start[n];
}

void look_at_weights(const Graph& matrix, std::int64_t first, std::int64_t last, Findings& here) {
    constexpr std::uint64_t one = 0x3ff0000000000000;  // as a double
    std::uint64_t other = 0;
    for (std::int64_t e = first; e < last; ++e) {
        std::uint64_t bits;
        std::memcpy(&bits, matrix.weights + e, sizeof bits);
        other |= bits ^ one;
    }
    here.ones = other == 0;
    for (std::int64_t e = first; e < last && !here.ones; ++e) {
        const double w = matrix.weights[e];
        here.zeros |= w == 0;
        here.faulty |= !(w >= 0 && w <= std::numeric_limits<double>::max());
    }
}

// Drawn once. Without a lock, which a forked child could find taken.
std::uint64_t key_of_marks() {
    static std::atomic<std::uint64_t> key{0};
    std::uint64_t drawn = key;
    if (drawn != 0) return drawn;
    std::random_device device;
    const std::uint64_t fresh = std::uint64_t{device()} << 32 | device() | 1;
    return key.compare_exchange_strong(drawn, fresh) ? fresh : drawn;
}

// The fingerprint of rows with weights; of an entry of weight 1 it is that of one without.
std::uint64_t weighted_fingerprint(const Graph& matrix, std::int64_t first, std::int64_t last,
                                   std::uint64_t key) {
    std::uint64_t sum = 0;
    for (std::int64_t i = first; i < last; ++i) {
        for (std::int64_t e = matrix.start[i]; e < matrix.start[i + 1]; ++e) {
            const auto row = static_cast<std::uint64_t>(i);
            const auto end = static_cast<std::uint64_t>(matrix.ends[e]);
            std::uint64_t bits, mark = marks<std::uint64_t>(row, end, key);
            std::memcpy(&bits, matrix.weights + e, sizeof bits);
            if (matrix.weights[e] != 1 && mark != 0) {
                mark = mixed((end < row ? 0 - mark : mark) + bits);
                if (end < row) mark = 0 - mark;
            }
            sum += mark;
        }
    }
    return sum;
}

// The entries of some rows, from edges that count both ways, or one way.
template <bool both_ways, class Index>
OwnGraph gather(std::int64_t first_row, std::int64_t n_rows, std::int64_t n_nodes,
                std::int64_t n_edges, const Index* source, const Index* target,
                const double* weights, int threads) {
    OwnGraph graph;
    graph.n_nodes = n_rows;
    graph.start = Buffer<std::int64_t>(n_rows + 1);
    std::int64_t* const start = graph.start.get();
    for_pieces(threads, n_edges, edges_per_chunk, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t e = first; e < last; ++e) {
            const std::int64_t i = source[e] - first_row, j = target[e];
            if (i < 0 || i >= n_rows || j < 0 || j >= n_nodes) {
                throw std::out_of_range("an edge ends outside the graph");
            }
            __atomic_fetch_add(start + i, 1, __ATOMIC_RELAXED);
            if (both_ways && i != j) __atomic_fetch_add(start + j, 1, __ATOMIC_RELAXED);
        }
    });
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < n_rows; ++i) start[i] = total += start[i];
    start[n_rows] = graph.n_entries = total;

    // start[i] is the end of row i here and walks back to its beginning as the row fills up.
    graph.ends = Buffer<std::int32_t>(total);
    if (weights) graph.weights = Buffer<double>(total);
    for_pieces(threads, n_edges, edges_per_chunk, [&](std::int64_t first, std::int64_t last) {
        const auto put = [&](std::int64_t i, std::int64_t j, std::int64_t e) {
            const std::int64_t at = __atomic_sub_fetch(start + i, 1, __ATOMIC_RELAXED);
            graph.ends[at] = static_cast<std::int32_t>(j);
            if (weights) graph.weights[at] = weights[e];
        };
        // The rows of later edges are asked for: what is written next to each is there in time.
        const auto ask = [&](std::int64_t i) {
            const std::int64_t at = __atomic_load_n(start + i, __ATOMIC_RELAXED) - 1;
            __builtin_prefetch(graph.ends.get() + at, 1);
        };
        for (std::int64_t e = first; e < last; ++e) {
            if (e + 2 * ahead < last) {
                __builtin_prefetch(start + source[e + 2 * ahead] - first_row, 1);
                ask(source[e + ahead] - first_row);
                if (both_ways) {
                    __builtin_prefetch(start + target[e + 2 * ahead], 1);
                    ask(target[e + ahead]);
                }
            }
            put(source[e] - first_row, target[e], e);
            if (both_ways && source[e] != target[e]) put(target[e], source[e], e);
        }
    });

    Buffer<std::int64_t> counts(n_rows);
    for_pieces(threads, n_rows, rows_per_chunk, [&](std::int64_t first, std::int64_t last) {
        std::vector<Entry> row;
        for (std::int64_t i = first; i < last; ++i) {
            std::int32_t* const ends = graph.ends.get() + start[i];
            const std::int64_t count = start[i + 1] - start[i];
            counts[i] = weights ? clean_row(ends, graph.weights.get() + start[i], count, row)
                                : clean_row(ends, count);
        }
    });
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < n_rows; ++i) kept += counts[i];
    if (kept < total) close_gaps(graph, counts.get());
    return graph;
}

}  // namespace

template <class Index>
OwnGraph from_edges(std::int64_t n_nodes, std::int64_t n_edges, const Index* source,
                    const Index* target, const double* weights, int threads) {
    return gather<true>(0, n_nodes, n_nodes, n_edges, source, target, weights, threads);
}

OwnGraph from_entries(std::int64_t first_row, std::int64_t n_rows, std::int64_t n_nodes,
                      std::int64_t n_entries, const std::int32_t* rows, const std::int32_t* ends,
                      const double* weights, int threads) {
    return gather<false>(first_row, n_rows, n_nodes, n_entries, rows, ends, weights, threads);
}

RangedEntries scatter(std::int64_t n_edges, const std::int32_t* source, const std::int32_t* target,
                const double* weights, std::int64_t n_ranges, const std::int32_t* cuts) {
    const auto range_of = [&](std::int32_t row) {
        const std::int32_t* const above = std::upper_bound(cuts, cuts + n_ranges + 1, row);
        if (above == cuts || above == cuts + n_ranges + 1) {
            throw std::out_of_range("an edge ends outside the graph");
        }
        return above - cuts - 1;
    };
    RangedEntries found;
    found.first = Buffer<std::int64_t>(n_ranges + 1);
    std::vector<std::int64_t> at(static_cast<std::size_t>(n_ranges) + 1, 0);
    for (std::int64_t e = 0; e < n_edges; ++e) {
        ++at[range_of(source[e])];
        const auto other = range_of(target[e]);
        if (source[e] != target[e]) ++at[other];
    }
    for (std::int64_t b = 0; b < n_ranges; ++b) {
        found.first[b] = found.count;
        found.count += std::exchange(at[b], found.count);
    }
    found.first[n_ranges] = found.count;
    found.rows = Buffer<std::int32_t>(found.count);
    found.ends = Buffer<std::int32_t>(found.count);
    if (weights) found.weights = Buffer<double>(found.count);
    const auto put = [&](std::int32_t i, std::int32_t j, std::int64_t e) {
        const std::int64_t to = at[range_of(i)]++;
        found.rows[to] = i;
        found.ends[to] = j;
        if (weights) found.weights[to] = weights[e];
    };
    for (std::int64_t e = 0; e < n_edges; ++e) {
        put(source[e], target[e], e);
        if (source[e] != target[e]) put(target[e], source[e], e);
    }
    return found;
}

template OwnGraph from_edges<std::int32_t>(std::int64_t, std::int64_t, const std::int32_t*,
                                           const std::int32_t*, const double*, int);
template OwnGraph from_edges<std::int64_t>(std::int64_t, std::int64_t, const std::int64_t*,
                                           const std::int64_t*, const double*, int);

Findings inspect(const Graph& matrix, int threads) {
    Findings all;
    check_start(matrix);
    for (std::int64_t i = 0; i < matrix.n_nodes; ++i) {
        all.longest = std::max(all.longest, matrix.start[i + 1] - matrix.start[i]);
    }
    const Kernels& kernels = best_kernels();
    const std::uint64_t key = key_of_marks();
    std::uint64_t difference = 0;  // of the fingerprints of the upper and the lower half
    std::mutex mutex;
    const auto cuts = cut_rows(matrix);
    for_cuts(threads, cuts, [&](std::int64_t, std::int64_t first, std::int64_t last) {
        Findings here;
        if (matrix.weights) look_at_weights(matrix, matrix.start[first], matrix.start[last], here);
        const RowsSeen seen = kernels.look(matrix, first, last, key);
        const std::uint64_t sum =
            here.ones ? seen.fingerprint : weighted_fingerprint(matrix, first, last, key);
        const std::lock_guard<std::mutex> guard(mutex);
        all.sorted &= seen.sorted;
        all.ones &= here.ones;
        all.zeros |= here.zeros;
        all.faulty |= here.faulty;
        difference += sum;
    });
    all.symmetric = difference == 0;
    return all;
}

void row_sums(const Graph& graph, double* sums, int threads) {
    for_pieces(threads, graph.n_nodes, rows_per_chunk, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            double sum = 0;
            for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                sum += graph.weight(e);
            }
            sums[i] = sum;
        }
    });
}

}  // namespace isotherm
