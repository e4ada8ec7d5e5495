// Compiled once per instruction set, with ISOTHERM_KERNELS naming the prover it defines. See proof.hpp.
#include <cmath>
#include <cstring>

#include "proof.hpp"

namespace isotherm {
namespace {

constexpr double unit_roundoff = 0x1p-53, underflow = 0x1p-1074;
constexpr std::int64_t ahead = 32;  // entries ahead at which memory is asked for

// G columns side by side.
template <int G>
struct Group {
    typedef double type __attribute__((vector_size(8 * G)));
};
template <int G>
using Doubles = typename Group<G>::type;

template <int G, class T>
inline Doubles<G> load(const T* from) {
    typedef T Numbers __attribute__((vector_size(sizeof(T) * G)));
    Numbers numbers;
    std::memcpy(&numbers, from, sizeof numbers);
    return __builtin_convertvector(numbers, Doubles<G>);
}
template <int G>
inline Doubles<G> size_of(Doubles<G> x) {
    return x < 0 ? -x : x;
}

// Raises numbers to x, but a NaN on either side stays or becomes one.
template <int G>
inline void raise(double* numbers, Doubles<G> x) {
    const Doubles<G> a = load<G>(numbers), larger = a > x ? a : x, kept = a != a ? a : larger;
    std::memcpy(numbers, &kept, sizeof kept);
}

// What the columns of a row have in common.
struct Node {
    std::int64_t i, first, last;  // its entries
    double degree;
    double loss;                  // τ d
    double drain;                 // surely at most (M h)_i
    // A sum of N terms, in whatever order, is off by at most N u times the sum of their sizes. 8 more
    // cover the difference and the products that make a term, the degree, and the last additions;
    // 1 % covers the rounding of the bound itself. Weights that were rounded change the terms.
    double unit;  // so many roundings
    double tiny;  // so many underflows
};

// r = Σ_j A_ij (x_j − x_i) − τ d_i x_i for the columns from `column` on.
template <int G, bool Weighted, class T>
inline void prove_columns(const Claim<T>& claim, const Node& node, std::int64_t column, Evidence& found) {
    const std::int64_t stride = claim.columns;
    const T* const X = claim.X + column;
    const Doubles<G> own = load<G>(X + node.i * stride);
    Doubles<G> flow{}, sizes{};
    for (std::int64_t e = node.first; e < node.last; ++e) {
        Doubles<G> term = load<G>(X + claim.graph.ends[e] * stride) - own;
        if (Weighted) term *= claim.graph.weights[e];
        flow += term;
        sizes += size_of<G>(term);
    }
    const Doubles<G> lost = node.loss * own, r = flow - lost;
    const Doubles<G> rounding =
        node.unit * (sizes + size_of<G>(lost)) + node.tiny * (1 + size_of<G>(own));
    const Doubles<G> level = (size_of<G>(r) + rounding) / node.drain;
    raise<G>(found.level.data() + column, level);
    raise<G>(found.rounding.data() + column, rounding / node.drain);
    raise<G>(found.relative.data() + column, size_of<G>(r) / node.degree);
    raise<G>(found.high.data() + column, own);
    raise<G>(found.minus_low.data() + column, -own);
}

// G at a time; the last G overlap with those before rather than reach beyond the row.
template <int G, bool Weighted, class T>
inline void prove_row(const Claim<T>& claim, const Node& node, Evidence& found) {
    for (std::int64_t k = 0; k < claim.columns; k += G) {
        const std::int64_t column = k + G <= claim.columns ? k : claim.columns - G;
        prove_columns<G, Weighted>(claim, node, column, found);
    }
}

// (M h)_i = Σ_j A_ij (h_i − h_j) + τ d_i h_i, less all that rounding may have added.
template <bool Weighted, class T>
inline Node node_of(const Claim<T>& claim, std::int64_t i) {
    const Graph& graph = claim.graph;
    const std::int64_t n_entries = graph.n_entries();
    Node node{};
    node.i = i;
    node.first = graph.start[i];
    node.last = graph.start[i + 1];
    const double own = claim.h[i];
    double degree = 0, flow = 0, sizes = 0;
    for (std::int64_t e = node.first; e < node.last; ++e) {
        if (e + ahead < n_entries) {
            const std::int64_t j = graph.ends[e + ahead];
            const T* const row = claim.X + j * claim.columns;
            __builtin_prefetch(claim.h + j);
            __builtin_prefetch(row);
            __builtin_prefetch(row + claim.columns - 1);
        }
        const double w = Weighted ? graph.weights[e] : 1.0;
        const double term = w * (own - claim.h[graph.ends[e]]);
        degree += w;
        flow += term;
        sizes += std::fabs(term);
    }
    const auto terms = static_cast<double>(node.last - node.first + 8);
    node.unit = 1.01 * (terms + claim.roundings) * unit_roundoff;
    node.tiny = terms * underflow;
    node.loss = claim.leak * degree;
    const double lost = node.loss * own;
    const double rounding =
        node.unit * (sizes + std::fabs(lost)) + node.tiny * (1 + std::fabs(own));
    const double drain = flow + lost - rounding;
    node.drain = drain > 0 ? drain : std::nan("");  // else h proves nothing
    node.degree = degree;
    return node;
}

template <bool Weighted, class T>
void prove_rows(const Claim<T>& claim, std::int64_t first, std::int64_t last, Evidence& found) {
    const double* const h = claim.h;
    for (std::int64_t i = first; i < last; ++i) {
        if (!claim.free[i]) {
            found.stray |= h[i] != 0;
            continue;
        }
        const Node node = node_of<Weighted>(claim, i);
        if (claim.columns >= 8) prove_row<8, Weighted>(claim, node, found);
        else if (claim.columns >= 4) prove_row<4, Weighted>(claim, node, found);
        else if (claim.columns >= 2) prove_row<2, Weighted>(claim, node, found);
        else prove_row<1, Weighted>(claim, node, found);
        const double degree = node.degree;
        found.least_degree = degree < found.least_degree ? degree : found.least_degree;
        found.greatest_degree = degree > found.greatest_degree ? degree : found.greatest_degree;
        found.least_exit = h[i] < found.least_exit ? h[i] : found.least_exit;
        found.greatest_exit = h[i] > found.greatest_exit ? h[i] : found.greatest_exit;
        ++found.n_nodes;
    }
}

template <class T>
void any_rows(const Claim<T>& claim, std::int64_t first, std::int64_t last, Evidence& found) {
    if (claim.graph.weights) prove_rows<true>(claim, first, last, found);
    else prove_rows<false>(claim, first, last, found);
}

#define ISOTHERM_JOIN_OF(a, b) a##b
#define ISOTHERM_JOIN(a, b) ISOTHERM_JOIN_OF(a, b)

constexpr Prover prover = {any_rows<float>, any_rows<double>};

}  // namespace

const Prover& ISOTHERM_JOIN(prover_, ISOTHERM_KERNELS)() { return prover; }

}  // namespace isotherm
