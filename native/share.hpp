// One rank's part of conjugate gradients, where the rows of the matrix are shared out over ranks.
//
// A rank has rows of its own, and ghosts: nodes of other ranks that its rows lead to. Arrays of
// "all" nodes have the own rows first, then those of the ghosts, which others send; arrays of "own"
// nodes have no ghosts. Rows are `width` numbers wide (4, 8, 12 or 16), a column each. What is summed up
// here is a part of a sum over all ranks.
//
// P is gathered at random, so no row of it lies in two cache lines: rows of 12 are 16 apart.
#pragma once

#include <cstdint>

#include "graph.hpp"

namespace isotherm {

constexpr int floats_in_line = 16;
constexpr int stride_of_P(int width) { return floats_in_line % width == 0 ? width : floats_in_line; }

struct Share {
    Graph graph;  // rows of all nodes; those of ghosts are empty
    std::int64_t n_own;
    const std::uint8_t* free;      // of own nodes: whether they are solved for
    const float* diagonal;         // of M at own nodes
    const float* inverse_diagonal;
    const float* inverse_gauge;    // of the unit of residuals; 0 where a node is not free
    // Of own nodes: which part of the diagonal leads to free nodes; null: not known. The rest is what
    // leaves them, M 1.
    const float* staying = nullptr;
};

// Of each column, over own nodes: Σ R² / diagonal, max |R| / gauge, and what stays of a residual as the
// direction R / diagonal, Σ staying R; 0 if that is not known.
struct SumsOfShare {
    double *dots, *levels, *staying;
};

// What is lost at own nodes, τ d, and what is put in at them, in one column; none if that is negative.
struct Heating {
    const double* loss;
    const double* source;
    int column;
};

// V = M P at free nodes, 0 at others, and dots = Σ P · V. P is of all nodes, V of own ones.
void multiply_share(const Share& share, int width, const float* P, float* V, double* dots,
                    int threads);

// D += α P and R −= α V. All of own nodes, but P.
void descend_share(const Share& share, int width, const double* alpha, const float* P,
                   const float* V, float* D, float* R, const SumsOfShare& sums, int threads);

// P = R / diagonal + shift + β P at own nodes that are free.
void turn_share(const Share& share, int width, const double* beta, const double* shift,
                const float* R, float* P, int threads);

// A lot of columns, 2, 4 or 8 of them, side by side in rows of their own: X is of all nodes.
struct Lot {
    const double* X;
    int columns;
};

// R = the heat that flows into free nodes at temperatures X; rows of R are `stride` apart, and sums are
// of the columns of the lot.
void weigh_share(const Share& share, const Heating& heat, const Lot& lot, float* R, int stride,
                 const SumsOfShare& sums, int threads);

// The same of some rows.
struct SumsOfRows {
    double *dots, *staying;
    float* levels;
};

// These functions on rows from `first` to `last`, compiled once per instruction set. No inline function
// that a linker could share between them may be used there.
struct ShareKernels {
    void (*multiply)(const Share&, const float* P, float* V, const SumsOfRows&, std::int64_t first,
                     std::int64_t last);
    void (*descend)(const Share&, const float* alpha, const float* P, const float* V, float* D,
                    float* R, const SumsOfRows&, std::int64_t first, std::int64_t last);
    void (*turn)(const Share&, const float* beta, const float* shift, const float* R, float* P,
                 std::int64_t first, std::int64_t last);
};
using WeighRows = void (*)(const Share&, const Heating& heat, const double* X, float* R, int stride,
                           const SumsOfRows&, std::int64_t first, std::int64_t last);
const ShareKernels& share_kernels_plain(int width);
const ShareKernels& share_kernels_avx2(int width);
const ShareKernels& share_kernels_avx512(int width);
WeighRows weigh_rows_plain(int columns);
WeighRows weigh_rows_avx2(int columns);
WeighRows weigh_rows_avx512(int columns);

}  // namespace isotherm
