// The plain product of a graph's matrix with some columns, for what needs no equilibrium.
#pragma once

#include <cstdint>

#include "graph.hpp"

namespace isotherm {

// Columns of a panel: a row of it is a cache line.
constexpr int panel_width = 16;

// Y = A X for panels X and Y. Each row is added up by one thread, entry by entry: the result does
// not depend on the threads.
void multiply(const Graph& graph, const float* X, float* Y, int threads);

}  // namespace isotherm
