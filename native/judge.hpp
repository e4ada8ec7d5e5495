// Temperatures → labels, margins, and which of them are proven.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "leads.hpp"

namespace isotherm {

// The greater of two errors; that which is no number proves nothing.
inline double worse(double error, double other) {
    return error >= other ? error : other == other ? other : std::numeric_limits<double>::infinity();
}

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

// What became of a node: numbers in STATUS of isotherm/classifier/estimator.py. A tie is not certified
// although temperatures are as accurate as asked.
enum Status : std::uint8_t { seed, predicted, tie, no_heat };

// Where to, an entry per node.
struct Verdict {
    std::int64_t* codes;
    double* margins;
    std::uint8_t *certified, *status;
};

template <class T>
void judge(const Rule& rule, const T* temperatures, const Verdict& verdict, int threads,
           const LeadFinder& finder);

// Over all nodes, then over those that are not seeds; nodes without a temperature are left out.
struct Sums {
    std::vector<double> temperatures;  // 2 × n_classes
    double errors[2] = {};             // of the nodes' error factors
    std::int64_t counts[2] = {};
    std::int64_t n_nodes = 0;  // with those left out
};

// Needs nothing that a rule says of classes.
template <class T>
Sums sum_up(const Rule& rule, const T* temperatures, int threads);

}  // namespace isotherm
