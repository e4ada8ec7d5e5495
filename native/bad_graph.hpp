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

[[noreturn]] void not_symmetric();
[[noreturn]] void leads_outside();

// Throws if an entry of the rows [first, last) leads outside the graph.
void check_ends(const Graph& graph, std::int64_t first, std::int64_t last);

// Throws if a row begins before the one before it.
void check_start(const Graph& graph);

}  // namespace isotherm
