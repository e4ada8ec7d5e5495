// What the core asks of a graph's arrays so that no loop leaves them. Symmetry is only foretold by
// a fingerprint (marks.hpp): what relies on it counts, and throws where the count is another.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "graph.hpp"

namespace isotherm {

// In Python, a GraphError.
struct BadGraph : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

[[noreturn]] inline void not_symmetric() {
    throw BadGraph(
        "the matrix of the graph is not symmetric: some edges are there in one direction only. Was it "
        "changed after the graph was made? Make the graph again");
}

[[noreturn]] inline void leads_outside() {
    throw BadGraph(
        "an entry of the graph leads to a node outside of it. Was it changed after the graph was made? "
        "Make the graph again");
}

// Throws if an entry of the rows [first, last) leads outside the graph.
inline void check_ends(const Graph& graph, std::int64_t first, std::int64_t last) {
    const auto last_node = static_cast<std::uint32_t>(graph.n_nodes - 1);
    std::uint32_t seen = 0;  // its first bit is set by a number below 0, or by one above the last
    for (std::int64_t e = graph.start[first]; e < graph.start[last]; ++e) {
        const auto end = static_cast<std::uint32_t>(graph.ends[e]);
        seen |= end | (last_node - end);
    }
    if (seen >> 31) leads_outside();
}

// Throws if a row begins before the one before it.
inline void check_start(const Graph& graph) {
    bool increases = true;
    for (std::int64_t i = 0; i < graph.n_nodes; ++i) {
        increases &= graph.start[i] <= graph.start[i + 1];
    }
    if (!increases) throw BadGraph("rows of the graph overlap: start must not decrease");
}

}  // namespace isotherm
