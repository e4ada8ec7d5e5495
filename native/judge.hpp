// Temperatures → labels, margins, and which of them are proven.
#pragma once

#include <cstdint>

namespace isotherm {

// One row per node. A decision is score = (T − shift) / scale, with an error of at most
// slope · E + growth · |score| + offset where E, the error of T, is at most node · column and at
// most span.
struct Rule {
    std::int64_t n_nodes;
    int n_classes;
    const std::int64_t* seeds;  // class of a seed, −1 at other nodes
    const double* node;
    const double *column, *span, *shift, *scale, *slope, *growth, *offset;
    double mean_error;  // the greatest error of a mean, which counts as one of a temperature
    double tol;
};

// Where to; with null pointers only the excess is found.
struct Verdict {
    std::int64_t* codes;
    double* margins;
    std::uint8_t *certified, *tied;
};

// Returns how many times too large the errors are for every node to be certified or tied.
template <class T>
double judge(const Rule& rule, const T* temperatures, const Verdict& verdict, int threads);

// Sums over all nodes and over those that are not seeds, of temperatures (2 × n_classes) and of
// the nodes' error factors (2); nodes without a temperature are left out and not counted (2).
template <class T>
void sum_up(const Rule& rule, const T* temperatures, double* sums, double* errors,
            std::int64_t* counts, int threads);

}  // namespace isotherm
