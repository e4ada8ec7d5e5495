// The graph as the core sees it: a symmetric CSR matrix, rows sorted, without duplicates.
#pragma once

#include <cstdint>

namespace isotherm {

// Of rows of numbers that entries lead to, up to which a core's own cache has them: none need be asked
// for ahead.
constexpr std::int64_t near_bytes = 1 << 19;
// Of entries themselves, from which on no cache has them since they were last read.
constexpr std::int64_t far_bytes = 16 << 20;
constexpr std::int64_t entries_ahead = 512;  // at which these are asked for

namespace {
// The entry up to which one that comes later is asked for.
inline std::int64_t ask_for_entries_until(std::int64_t n_entries, std::int64_t bytes_per_entry) {
    return n_entries * bytes_per_entry > far_bytes ? n_entries - entries_ahead : 0;
}
}  // namespace

struct Graph {
    std::int64_t n_nodes;
    const std::int64_t* start;  // n_nodes + 1
    const std::int32_t* ends;   // start[n_nodes]
    const double* weights;      // null: all weights are 1

    std::int64_t n_entries() const { return start[n_nodes]; }
    double weight(std::int64_t e) const { return weights ? weights[e] : 1.0; }
};

}  // namespace isotherm
