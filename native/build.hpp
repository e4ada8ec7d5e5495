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

// What is to be known of a CSR matrix before it is taken as a graph.
struct Findings {
    bool sorted = true;     // rows strictly increasing, indices in range
    bool symmetric = true;  // up to a chance of 2⁻⁶⁴: fingerprints of the two halves are compared
    bool ones = true;       // all weights are 1
    bool zeros = false;     // some weights are 0
    bool faulty = false;    // some weights are negative, infinite or not a number
};
// Throws std::out_of_range if `start` decreases somewhere.
Findings inspect(const Graph& matrix, int threads);

// Sums of rows.
void row_sums(const Graph& graph, double* sums, int threads);

}  // namespace isotherm
