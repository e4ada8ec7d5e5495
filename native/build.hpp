// Edge lists and matrices as they come → what the core computes with.
#pragma once

#include <cstdint>

#include "buffer.hpp"
#include "graph.hpp"

namespace isotherm {

// A graph that owns its arrays.
struct OwnGraph {
    std::int64_t n_nodes = 0, n_entries = 0;
    Buffer<std::int64_t> start;
    Buffer<std::int32_t> ends;
    Buffer<double> weights;  // empty: all weights are 1
};

// The symmetric matrix of an edge list: every edge both ways, a self loop once. Duplicates merge;
// weights of duplicates add up, in increasing order so that the sum is the same from both ends.
// Throws std::out_of_range if an end is not in [0, n_nodes).
template <class Index>
OwnGraph from_edges(std::int64_t n_nodes, std::int64_t n_edges, const Index* source,
                    const Index* target, const double* weights, int threads);

// Rows [first_row, first_row + n_rows) of the same matrix, from all of their entries, in any order:
// those of edges between them are there twice. Throws std::out_of_range as above.
OwnGraph from_entries(std::int64_t first_row, std::int64_t n_rows, std::int64_t n_nodes,
                      std::int64_t n_entries, const std::int32_t* rows, const std::int32_t* ends,
                      const double* weights, int threads);

// The entries of some edges, both ways, by the range of rows they are in: range b is of the rows
// from cuts[b] to cuts[b + 1], and of the entries from first[b] to first[b + 1].
struct RangedEntries {
    std::int64_t count = 0;
    Buffer<std::int64_t> first;  // n_ranges + 1
    Buffer<std::int32_t> rows, ends;
    Buffer<double> weights;  // empty: all weights are 1
};
// Throws std::out_of_range if an end is not within the cuts.
RangedEntries scatter(std::int64_t n_edges, const std::int32_t* source, const std::int32_t* target,
                const double* weights, std::int64_t n_ranges, const std::int32_t* cuts);

// What is to be known of a CSR matrix before it is taken as a graph.
struct Findings {
    bool sorted = true;     // rows strictly increasing, indices in range
    bool symmetric = true;  // up to a chance of 2⁻⁶⁴: fingerprints of the two halves are compared
    bool ones = true;       // all weights are 1
    bool zeros = false;     // some weights are 0
    bool faulty = false;    // some weights are negative, infinite or not a number
    std::int64_t longest = 0;  // entries of a row
};
// Throws BadGraph if `start` decreases somewhere.
Findings inspect(const Graph& matrix, int threads);

// Sums of rows.
void row_sums(const Graph& graph, double* sums, int threads);

}  // namespace isotherm
