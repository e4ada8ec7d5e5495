// The graph as the core sees it: a symmetric CSR matrix, rows sorted, without duplicates.
#pragma once

#include <cstdint>

namespace isotherm {

// Of rows of numbers that entries lead to, up to which a core's own cache has them: none need be asked
// for ahead.
constexpr std::int64_t near_bytes = 1 << 19;

struct Graph {
    std::int64_t n_nodes;
    const std::int64_t* start;  // n_nodes + 1
    const std::int32_t* ends;   // start[n_nodes]
    const double* weights;      // null: all weights are 1

    std::int64_t n_entries() const { return start[n_nodes]; }
    double weight(std::int64_t e) const { return weights ? weights[e] : 1.0; }
};

}  // namespace isotherm
