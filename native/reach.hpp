// Which nodes heat can reach, and which nodes belong together.
#pragma once

#include <cstdint>

#include "graph.hpp"

namespace isotherm {

// Marks with 1 all nodes that have a path to a node marked already.
void reach(const Graph& graph, std::uint8_t* marked, int threads);

// The component of each node, numbered by the least node of each; returns how many there are. Nodes
// from `first_ghost` on have no rows of their own, though others lead to them.
std::int64_t components(const Graph& graph, std::int32_t* component, int threads,
                        std::int64_t first_ghost = INT64_MAX);

}  // namespace isotherm
