// The loops that take the time, compiled once per instruction set and chosen at run time.
//
// Vectors of one descent have up to 16 *lanes*, one per column, side by side in a row per equation:
//   P     rows of `width` numbers (1, 2, 4, 8 or 16), aligned, since it is gathered at random
//   Z, V  rows of `stride` floats, only ever streamed: of `width`, or if that is 16 of so many
//         lanes as there are. Narrow rows go through a register together, 16 numbers at a time.
// P is of half precision, or of floats where steps are many: a direction may be rounded, as long as
// each use of it goes the same way.
// This header is included by code for several instruction sets: no inline function that a linker
// could share between them.
#pragma once

#include <cstdint>

#include "graph.hpp"
#include "leads.hpp"
#include "proof.hpp"
#include "superpose.hpp"

namespace isotherm {

constexpr int max_width = 16;

namespace {
// The width of rows of so many lanes.
inline int width_for(int lanes) {
    return lanes <= 1 ? 1 : lanes <= 2 ? 2 : lanes <= 4 ? 4 : lanes <= 8 ? 8 : 16;
}
// Whether P is better of halves. Narrow rows are small as they are, unless there are so many of them
// that a core's own cache does not hold them; and the widest, if there are few of them, are sooner
// added up than converted.
inline bool are_better_halves(int width, std::int64_t rows) {
    const std::int64_t few = width <= 2 ? 1 << 15 : width == max_width ? 1 << 10 : 0;
    return rows > few;
}
constexpr std::int64_t bytes_per_row(int width, bool halves) { return width * (halves ? 2 : 4); }
// Rows for which there must be room, so that a register may be filled from any of them on.
inline std::int64_t padded(std::int64_t rows) { return (rows / max_width + 2) * max_width; }
}  // namespace

// What a node is in a Dirichlet problem.
enum Kind : std::uint8_t {
    held = 0,    // on the boundary, or out of its reach
    moving = 1,  // free
    peeled = 2,  // free, and found from its parent: see peel.hpp
};

// The operator M = (1 + τ) D − A on free nodes, and the unit of residuals.
struct Operator {
    Graph graph;
    const std::uint8_t* kind;
    const double* degrees;  // with the weight of ties, see Problem
    const double* ties;     // weights by which nodes are tied to what is known of them; or null
    // What divides a residual is a node's pivot: (1 + τ) d, less what was peeled off. Its mass is
    // the pivot in units of the largest.
    const float* mass;
    double largest_pivot;
    double leak;
    bool root;            // residuals are measured in √d, else in d
    double peeled_gauge;  // and in so much less at peeled nodes
};

namespace {
inline double gauge(const Operator& M, std::int64_t i) {
    const double g = M.root ? __builtin_sqrt(M.degrees[i]) : M.degrees[i];
    return M.kind[i] == peeled ? M.peeled_gauge * g : g;
}
}  // namespace

// The equations that steps are made on, see system.hpp. What divides a residual is a row's pivot,
// and its mass is the pivot in units of the largest.
struct System {
    std::int64_t n_rows;
    const std::int64_t* start;
    const std::int32_t* ends;
    const float* weights;         // of entries, in units of the largest pivot; or null
    const double* graph_weights;  // those of the graph instead; or null, if all weights are 1
    double weight_unit;           // what turns the latter into the former
    const float* mass;            // padded; 0 at rows that are not moving
    // M 1: what would leave each row, for the boundary or by a leak, if all were at 1, in units of
    // the largest pivot; padded. And all of it.
    const float* exits;
    double all_exits;
    // What turns a residual in units of the pivot into one in units of the gauge, or a little more:
    // for each row, padded; or, if that is null, for all of them, times the root of their mass if
    // the gauge is one.
    const float* units;
    bool root;
    float unit;
};

struct Vectors {
    void* P;
    bool halves;  // of which P is, else of floats
    bool shared;  // P is written past the caches, for other threads to read
    float *Z, *V;
    int width, lanes, stride;
    int columns;  // lanes that are columns of X; one more lane, if any, is that of h
    bool hidden;  // a further column is 1 − Σ of the others
    const std::uint8_t* reached;  // 0 at rows whose neighbours have no heat in P yet; null: none
};

// Sums over rows, for each lane.
struct Dots {
    double flow[max_width];     // of Z, or what is taken for it, times pivots V
    double heat[max_width];     // of the residual
    double leaving[max_width];  // of Z times exits
};

// A block of columns of temperatures.
template <class T>
struct Columns {
    T* first;             // of node 0
    std::int64_t stride;  // from node to node
    int count;
    bool full_rows = false;  // whether all of a row, `stride` numbers, may be read and written
};

// The nodes that were eliminated; see Fold, whose arrays these are.
struct Folded {
    std::int64_t count;
    const std::int32_t* nodes;
    const std::int64_t* start;
    const std::int32_t* ends;
    const double *ratios, *inverse_pivots, *rise;
};

// Entries of a triangular matrix, by row or by column.
struct Triangle {
    const std::int64_t* start;
    const std::int32_t* ends;
    const float* shares;
};

// C = (I − L) diag(pivots) (I − L)ᵀ, see factor.hpp. Row and column k of L belong to row order[k] of
// the system.
struct Triangles {
    std::int64_t n;
    const std::int32_t* order;
    Triangle by_row, by_column;
    const float* inverse_pivots;
};

// Sizes of residuals: maxima of |r| / gauge over free nodes, for each lane. They steer the solver and
// prove nothing: see proof.hpp for that.
struct Levels {
    double columns[max_width];
    double hidden;  // that of 1 − Σ of the columns
    double exits;   // that of h
};

// Heat put in at some nodes, a row of numbers for each of them.
struct Heat {
    const std::int32_t* row_of = nullptr;  // of each node, −1 without one; null: there is none
    const double* rows = nullptr;
    std::int64_t stride = 0;  // from row to row

    const double* at(std::int64_t i) const {
        return row_of && row_of[i] >= 0 ? rows + row_of[i] * stride : nullptr;
    }
};

// What the next direction is made of, for each lane.
struct Turn {
    float shift[max_width];  // of all rows that move
    float beta[max_width];   // of the one before
    float inverse_units[max_width];
};

// Of which columns residuals are wanted, and where to.
template <class T>
struct Task {
    const std::int32_t* row_of;   // Z's row of each node, −1 without one; null: nodes themselves
    const T* X;           // rows of width_for(count) floats, or more; or of `count` doubles
    std::int64_t stride;  // from row to row
    int count;
    bool packed_h;                // the last of them is h
    bool hidden;                  // whether the level of one more column is wanted
    const double* inverse_scale;  // of each column, max_width of them
    float* Z;                     // receives r / pivots
    int stride_of_Z, lanes;       // from row to row, and how many are written
    Heat heat;
};

// What is to be known of rows before they are taken for those of a graph.
struct RowsSeen {
    std::uint64_t fingerprint;  // the sum of the marks of their entries, see marks.hpp
    bool sorted;                // each increases strictly, and has nodes only
};

// Each works on rows [first, last), residuals on nodes, and adds to, or raises, the sums and maxima it is given. Those of
// a system begin at a multiple of 16.
struct Kernels {
    const char* name;
    // Whether no number is below the one before it; whether all are those of nodes.
    bool (*never_fall)(const std::int64_t* start, std::int64_t n_rows);
    bool (*are_nodes)(const std::int32_t* ends, std::int64_t count, std::int64_t n_nodes);
    // Of a graph: its weights are not looked at.
    RowsSeen (*look)(const Graph&, std::int64_t first, std::int64_t last, std::uint64_t key);
    // V = M P / pivots;  dots += P · M P
    void (*product)(const System&, const Vectors&, std::int64_t first, std::int64_t last,
                    double* dots);
    // Z −= alpha V;  levels ≥ |r| / gauge, the hidden column's last;  largest ≥ |Z|
    void (*descend)(const System&, const Vectors&, const float* alpha, std::int64_t first,
                    std::int64_t last, Dots&, float* levels, float* largest);
    // With from = Z or the preconditioned residual; largest ≥ |from|
    void (*dot)(const System&, const Vectors&, const float* from, std::int64_t first,
                std::int64_t last, Dots&, float* largest);
    // Z −= rise exits / pivots: the residual, once X and h are warmer by `rise` everywhere.
    void (*lift)(const System&, const Vectors&, const float* rise, std::int64_t first,
                 std::int64_t last);
    // V = C⁻¹ (pivots Z) for `count` lanes from `lane` on, at most `group` (2, 4, 8 or 16) of them;
    // y has room for `group` numbers per row
    void (*substitute)(const System&, const Vectors&, const Triangles&, int lane, int count,
                       int group, float* y);
    // X += step P, h += step P;  P = inverse_units (from + shift + beta P), from as above;
    // dots += Z · pivots P
    void (*advance_f)(const System&, const Vectors&, const float* from, const Columns<float>&,
                      double* h, const double* step, const Turn&, std::int64_t first,
                      std::int64_t last, double* dots);
    void (*advance_d)(const System&, const Vectors&, const float* from, const Columns<double>&,
                      double* h, const double* step, const Turn&, std::int64_t first,
                      std::int64_t last, double* dots);
    // r = heat + A X − (1 + τ) D X, and gauge + (A − (1 + τ) D) h, in double
    void (*residual_f)(const Operator&, const Task<float>&, std::int64_t first, std::int64_t last,
                       Levels&);
    void (*residual_d)(const Operator&, const Task<double>&, std::int64_t first, std::int64_t last,
                       Levels&);
    // Gives nodes that were eliminated the temperatures that those left imply, between low and high,
    // and h unless that is null; `heat`: what each node has got, a row of as many numbers as columns.
    void (*hang_f)(const Folded&, const Columns<float>&, double* h, const double* low,
                   const double* high, const double* heat);
    void (*hang_d)(const Folded&, const Columns<double>&, double* h, const double* low,
                   const double* high, const double* heat);
    const Prover& (*prover)();
    const LeadFinder& (*leads)();
    const Superposer& (*superposer)();
};

// Those for an instruction set; null if this machine does not have it.
const Kernels* find_kernels(const char* name);
// Those for the best it has.
const Kernels& best_kernels();

const Kernels& kernels_plain();
#if defined(ISOTHERM_X86)
const Kernels& kernels_avx2();
const Kernels& kernels_avx512();
#endif

}  // namespace isotherm
