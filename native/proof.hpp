// The numbers that prove temperatures, from the graph and the arrays as they are returned.
//
// Nothing here is shared with the solver: not its packed rows, its peeled trees, its hidden column
// or its units. What the numbers prove is said in src/isotherm/solvers/certificate.py, which also
// has the last word where anything is unusual; src/isotherm/solvers/imbalance.py computes the same
// without this code.
#pragma once

#include <cstdint>
#include <vector>

#include "graph.hpp"

namespace isotherm {

// Nodes that are free and tied to what is known of them: r_i has a further term, a (y − x_i).
struct Ties {
    const std::int32_t* row_of = nullptr;  // of each node, −1 without one; null: there are none
    const double* weights = nullptr;       // a, one for each row
    const double* values = nullptr;        // y, of as many columns as X
    double roundings = 0;                  // of each weight, before it got here
};

// What is claimed: that X, n_nodes × columns, is close to equilibrium. h, an entry per node, is what
// proves it.
template <class T>
struct Claim {
    Graph graph;
    const std::uint8_t* free;  // 1 at nodes to be proven
    double leak;
    const T* X;
    std::int64_t columns;
    const double* h;
    Ties ties;
    // (M h)_i − ε′ of each free node, where that is known; else null.
    const double* drains = nullptr;
    // A row of `width_packed` numbers for each node, h and then X, the rest 0; or null. Where there
    // are few columns it is quicker to fetch all of a node at once.
    const double* packed = nullptr;
    int width_packed = 0;
};

// Maxima and minima over free nodes.
struct Evidence {
    // Of each column, with a NaN if there is one on the way: (|r| + ε) / (M h − ε′), where ε and ε′
    // bound the rounding of r and of M h; the same of ε alone; |r| / d; the greatest temperature, and
    // the least with its sign turned.
    std::vector<double> level, rounding, relative, high, minus_low;
    double least_degree, greatest_degree, least_exit, greatest_exit;
    std::int64_t n_nodes = 0;  // looked at
    bool stray = false;        // whether h is not 0 at a node that is not free

    explicit Evidence(std::int64_t columns);
    void add(const Evidence& other);
};

// Rows [first, last) of a claim. `drain` leaves X aside and writes what h drains from free nodes.
struct Prover {
    void (*drain)(const Claim<double>&, std::int64_t first, std::int64_t last, double* drains);
    void (*prove_f)(const Claim<float>&, std::int64_t first, std::int64_t last, Evidence&);
    void (*prove_d)(const Claim<double>&, std::int64_t first, std::int64_t last, Evidence&);
};

const Prover& prover_plain();
#if defined(ISOTHERM_X86)
const Prover& prover_avx2();
const Prover& prover_avx512();
#endif

// All rows of a claim, on so many threads; the result does not depend on how many. `packed`: where there
// are few columns, with a packed copy of what is claimed if that is not large.
template <class T>
Evidence prove(const Claim<T>& claim, int threads, const Prover& prover, bool packed = true);

// What h drains from each free node, surely no more than M h; 0 elsewhere, and where it drains none.
void find_drains(const Claim<double>& claim, int threads, const Prover& prover, double* drains);

// What a certificate rests on besides the evidence.
struct Given {
    std::int64_t n_held;
    const std::int64_t* boundary;   // the nodes held, and at what: a row for each
    const double* values;
    const double *low, *high;       // of each column, between which all temperatures are
    const std::uint8_t* unreached;  // of each node
    std::int64_t n_free;
};

// |X − X*| ≤ min(nodes_i columns_k, spans_k), see isotherm/solvers/certificate.py.
struct Certificate {
    double *nodes, *columns, *spans;
};

// Fills it in and returns the greatest bound where all is usual. Where it is not, where a number is
// out of range, say, or a column may be without heat, it returns −1: what is written there has to say.
template <class T>
double certify(const Claim<T>& claim, const Evidence& found, const Given& given,
               const Certificate& certificate);

}  // namespace isotherm
