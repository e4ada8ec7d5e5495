// Seeds as if each were free: what follows from their responses, and how far off that may be.
// src/isotherm/trust/freed.py does the same without this code; the formulas are in leave_one_out.py.
#pragma once

#include <cstdint>

#include "graph.hpp"

namespace isotherm {

// m seeds, each with what it is held at, K numbers, and a bound on their error.
struct HeldSeeds {
    std::int64_t count, n_classes;
    const std::int64_t* nodes;
    const double *own, *own_errors;
};

// Temperatures, n × K, and bounds on their errors.
template <class T>
struct Known {
    const T* temperatures;
    const double* errors;
};

// What each of n nodes gets when one of m seeds alone is hot, a column for each seed, off by at most
// min(nodes_i columns_k, spans_k); the sum of each column over all nodes of the graph, and that of the
// factors of the nodes.
template <class T>
struct Responses {
    const T* temperatures;
    const double *nodes, *columns, *spans, *sums;
    double exits;
    std::int64_t n_summed;
};

// See Freed in freed.py: m × K, m, m × K, m.
struct Freed {
    double *temperatures, *errors, *changes, *change_errors;
};

template <class T, class U>
void free_each(const Graph& graph, double leak, const HeldSeeds& seeds, const Known<T>& known,
               const Responses<U>& responses, const Freed& into, int threads);

}  // namespace isotherm
