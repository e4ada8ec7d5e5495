// Nodes of few neighbours, eliminated exactly: what is left has fewer rows, takes fewer steps and has
// hardly more entries. On Cora a quarter of the rows is left, and half of the steps.
#pragma once

#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "kernels.hpp"

namespace isotherm {

struct Fold {
    // In the order of elimination. With b the heat that it has got, from the boundary and from those
    // before it, a node has x = b / pivot + Σ ratio · x of its neighbours, which get ratio · b.
    std::vector<std::int32_t> nodes;
    std::vector<std::int64_t> start{0};  // of its neighbours
    std::vector<std::int32_t> ends;      // nodes
    std::vector<double> ratios;
    std::vector<double> inverse_pivots;
    std::vector<double> rise;      // of h: b / pivot
    std::vector<double> received;  // by node: what its equation for h has got

    // The graph that is left, by node: where its entries start, how many there are, and what its
    // edges to the boundary weigh. A row has more room than entries.
    std::vector<std::int64_t> rest_start;
    std::vector<std::int32_t> rest_counts;
    Buffer<std::int32_t> rest_ends;
    Buffer<double> rest_weights;
    std::vector<double> rest_exits;

    Graph rest() const {
        return {static_cast<std::int64_t>(rest_start.size()) - 1, rest_start.data(),
                rest_ends.get(), rest_weights.get()};
    }

    Folded view() const {
        return {size(),        nodes.data(),          start.data(), ends.data(),
                ratios.data(), inverse_pivots.data(), rise.data()};
    }

    bool empty() const { return nodes.empty(); }
    std::int64_t size() const { return static_cast<std::int64_t>(nodes.size()); }
};

// Whether enough of its nodes have few neighbours.
bool is_worth_folding(const Graph& graph, const std::uint8_t* kind);

// Folds a graph: marks nodes that are eliminated in `kind` and updates the pivots of all. None must
// have been peeled off before.
Fold fold_graph(const Operator& M, std::uint8_t* kind, double* pivots, int threads);

}  // namespace isotherm
