// Compiled once per instruction set, with ISOTHERM_KERNELS naming the prover it defines. See proof.hpp.
#include <cmath>
#include <cstring>

#include "arithmetic.hpp"
#include "bad_graph.hpp"
#include "instruction_set.hpp"
#include "proof.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace isotherm {
namespace {

// The smallest normal number bounds an underflow, too, and operations on denormal ones are slow.
constexpr double unit_roundoff = 0x1p-53, underflow = 0x1p-1022;
constexpr std::int64_t ahead = 32;  // entries ahead at which memory is asked for

#if defined(__AVX512F__)
constexpr int widest = 8;  // doubles in a register
#elif defined(__AVX2__)
constexpr int widest = 4;
#else
constexpr int widest = 2;
#endif

// G columns side by side.
template <int G>
struct Group {
    typedef double type __attribute__((vector_size(8 * G)));
    typedef std::uint64_t bits __attribute__((vector_size(8 * G)));
};
template <int G>
using Doubles = typename Group<G>::type;

template <int G, class T>
inline Doubles<G> load(const T* from) {
    // In one instruction, where compilers make several.
#if defined(__AVX512F__)
    if constexpr (G == 8 && sizeof(T) == 4) return _mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(from));
#endif
#if defined(__AVX2__)
    if constexpr (G == 4 && sizeof(T) == 4) return _mm256_cvtps_pd(_mm_loadu_ps(from));
#endif
    typedef T Numbers __attribute__((vector_size(sizeof(T) * G)));
    Numbers numbers;
    std::memcpy(&numbers, from, sizeof numbers);
    return __builtin_convertvector(numbers, Doubles<G>);
}

template <int G>
inline Doubles<G> size_of(Doubles<G> x) {  // without the sign's bit
    using Bits = typename Group<G>::bits;
    return reinterpret_cast<Doubles<G>>(reinterpret_cast<Bits>(x) & 0x7fffffffffffffffu);
}

// Raises a to x; a NaN on either side stays or becomes one.
template <int G>
inline void raise(Doubles<G>& a, Doubles<G> x) {
    const Doubles<G> larger = a > x ? a : x;
    a = a != a ? a : larger;
}

// What Evidence has of G columns, or of fewer: `count` columns, in the lanes from `lane` on.
template <int G>
struct Maxima {
    Doubles<G> level{}, rounding{}, relative{}, high{}, minus_low{};

    void load(const Evidence& found, std::int64_t column, int lane, std::int64_t count) {
        each(found, [&](Doubles<G>& own, const std::vector<double>& all) {
            std::memcpy(place(own, lane), all.data() + column, sizeof(double) * count);
        });
    }
    void store(Evidence& found, std::int64_t column, int lane, std::int64_t count) {
        each(found, [&](Doubles<G>& own, std::vector<double>& all) {
            std::memcpy(all.data() + column, place(own, lane), sizeof(double) * count);
        });
    }

private:
    static char* place(Doubles<G>& own, int lane) {
        return reinterpret_cast<char*>(&own) + sizeof(double) * lane;
    }
    template <class Found, class Copy>
    void each(Found& found, Copy copy) {
        copy(level, found.level);
        copy(rounding, found.rounding);
        copy(relative, found.relative);
        copy(high, found.high);
        copy(minus_low, found.minus_low);
    }
};

// A node, and what its columns have in common.
struct Node {
    std::int64_t i, first, last;  // its entries
    std::int64_t tie = -1;        // its row
    double loss = 0;              // τ d
    double drain = 0;             // (M h)_i, surely no more
    double inverse_drain = 0;
    double degree = 0, inverse_degree = 0;  // with the weight of a tie
    // A sum of N terms, in whatever order, is off by at most N u times the sum of their sizes. 8 more
    // cover the difference and the products that make a term, the degree, and the last operations;
    // 1 % covers the rounding of the bound itself.
    double unit = 0;  // so many roundings
    double tiny = 0;  // so many underflows
};

// The node that an entry leads to.
inline std::int64_t end_of(const Graph& graph, std::int64_t e, std::uint32_t n_nodes) {
    const auto end = static_cast<std::uint32_t>(graph.ends[e]);
    if (__builtin_expect(end >= n_nodes, 0)) leads_outside();
    return end;
}

// Throws if one of four entries leads outside.
inline void check_four(const std::int32_t* ends, std::uint32_t n_nodes) {
    typedef std::uint32_t Four __attribute__((vector_size(16)));
    Four four;
    std::memcpy(&four, ends, sizeof four);
    const Four high = four > n_nodes - 1 ? four : Four{};
    std::uint64_t halves[2];
    std::memcpy(halves, &high, sizeof high);
    if (halves[0] | halves[1]) leads_outside();
}

// Sums over the edges of a node i, of A_ij (x_j − x_i), and of their sizes.
template <class Number>
struct Flow {
    Number sum{}, sizes{};
};

double terms_of(const Node& node) {
    return static_cast<double>(node.last - node.first + (node.tie >= 0) + 8);
}

template <bool Weighted>
double degree_of(const Graph& graph, const Node& node) {
    if (!Weighted) return static_cast<double>(node.last - node.first);
    double degree = 0;
    for (std::int64_t e = node.first; e < node.last; ++e) degree += graph.weights[e];
    return degree;
}

template <class T>
double tie_of(const Claim<T>& claim, const Node& node) {
    return node.tie >= 0 ? claim.ties.weights[node.tie] : 0.0;
}

// With the weight of its edges, and of its tie.
void begin(Node& node, double degree, double tied, double leak) {
    const double terms = terms_of(node);
    node.unit = 1.01 * terms * unit_roundoff;
    node.tiny = terms * underflow;
    node.loss = leak * degree;
    node.degree = degree + tied;
    node.inverse_degree = 1 / node.degree;
}

void know_drain(Node& node, double drain) {
    node.drain = drain;
    node.inverse_drain = drain > 0 ? 1 / drain : std::nan("");  // else h proves nothing
}

// Of h, with the degree: (M h)_i = Σ_j A_ij (h_i − h_j) + τ d_i h_i + a h_i, less all that rounding
// may have added.
void conclude(Node& node, const Flow<double>& of_h, double degree, double tied, double h,
              double leak) {
    begin(node, degree, tied, leak);
    const double lost = node.loss * h;
    const double rounding =
        node.unit * (of_h.sizes + std::fabs(lost)) + node.tiny * (1 + std::fabs(h));
    know_drain(node, lost - of_h.sum - rounding);
}

// Of h, where it is known what that drains.
template <bool Weighted, class T>
void conclude_known(Node& node, const Claim<T>& claim) {
    begin(node, degree_of<Weighted>(claim.graph, node), tie_of(claim, node), claim.leak);
    know_drain(node, claim.drains[node.i]);
}

// Of G columns: r = Σ_j A_ij (x_j − x_i) − τ d_i x_i + a (y − x_i).
template <int G>
__attribute__((always_inline)) inline void conclude(const Node& node, const Flow<Doubles<G>>& flow, Doubles<G> own,
                     Maxima<G>& found) {
    const Doubles<G> lost = node.loss * own, r = size_of<G>(flow.sum - lost);
    const Doubles<G> rounding =
        node.unit * (flow.sizes + size_of<G>(lost)) + node.tiny * (1 + size_of<G>(own));
    raise<G>(found.level, node.inverse_drain * (r + rounding));
    raise<G>(found.rounding, node.inverse_drain * rounding);
    raise<G>(found.relative, node.inverse_degree * r);
    raise<G>(found.high, own);
    raise<G>(found.minus_low, -own);
}

// Two groups of columns, from a and from b on, which may overlap, and what is known of them.
template <int G>
struct TwoGroups {
    std::int64_t a, b;
    Maxima<G> of_a, of_b;

    TwoGroups(std::int64_t first, std::int64_t second, const Evidence& found)
        : a(first), b(second) {
        of_a.load(found, a, 0, G);
        of_b.load(found, b, 0, G);
    }
    void store(Evidence& found) {
        of_a.store(found, a, 0, G);
        of_b.store(found, b, 0, G);
    }
};

// The entry up to which the memory of a later one is asked for, if rows are of so many bytes.
template <class T>
inline std::int64_t ask_for_rows_until(const Claim<T>& claim, std::size_t bytes) {
    const std::int64_t all = claim.graph.n_nodes * static_cast<std::int64_t>(bytes);
    return all > near_bytes ? claim.graph.n_entries() - ahead : 0;
}

// Twice G columns. The first pass over a node's edges also looks at h.
template <int G, bool Weighted, bool First, class T>
inline void prove_columns(const Claim<T>& claim, Node& node, TwoGroups<G>& columns) {
    const std::int64_t a = columns.a, b = columns.b;
    const Graph& graph = claim.graph;
    const std::int64_t stride = claim.columns, stop = ask_for_rows_until(claim, stride * sizeof(T));
    const T* const X = claim.X;
    const auto n_nodes = static_cast<std::uint32_t>(graph.n_nodes);
    const double own_h = claim.h[node.i];
    const Doubles<G> own_a = load<G>(X + node.i * stride + a), own_b = load<G>(X + node.i * stride + b);
    Flow<Doubles<G>> in_a, in_b;
    Flow<double> in_h;
    double degree = Weighted ? 0.0 : static_cast<double>(node.last - node.first), tied = 0;
    for (std::int64_t e = node.first; e < node.last; ++e) {
        if (First && e < stop) {
            const std::int64_t j = graph.ends[e + ahead];
            __builtin_prefetch(claim.h + j);
            __builtin_prefetch(X + j * stride);
            __builtin_prefetch(X + j * stride + stride - 1);
        }
        const std::int64_t j = end_of(graph, e, n_nodes);
        const double w = Weighted ? graph.weights[e] : 1.0;
        Doubles<G> term_a = load<G>(X + j * stride + a) - own_a;
        Doubles<G> term_b = load<G>(X + j * stride + b) - own_b;
        if (Weighted) {
            term_a *= w;
            term_b *= w;
        }
        in_a.sum += term_a;
        in_b.sum += term_b;
        in_a.sizes += size_of<G>(term_a);
        in_b.sizes += size_of<G>(term_b);
        if (First) {
            const double term = w * (claim.h[j] - own_h);
            if (Weighted) degree += w;
            in_h.sum += term;
            in_h.sizes += std::fabs(term);
        }
    }
    if (node.tie >= 0) {
        const Ties& ties = claim.ties;
        const double w = ties.weights[node.tie];
        // A weight that was rounded changes its term by so much more.
        const double size = 1 + ties.roundings / terms_of(node);
        const double* const known = ties.values + node.tie * stride;
        const Doubles<G> term_a = w * (load<G>(known + a) - own_a);
        const Doubles<G> term_b = w * (load<G>(known + b) - own_b);
        in_a.sum += term_a;
        in_b.sum += term_b;
        in_a.sizes += size * size_of<G>(term_a);
        in_b.sizes += size * size_of<G>(term_b);
        if (First) {
            tied = w;
            in_h.sum -= w * own_h;
            in_h.sizes += size * std::fabs(w * own_h);
        }
    }
    if (First) conclude(node, in_h, degree, tied, own_h, claim.leak);
    conclude<G>(node, in_a, own_a, columns.of_a);
    conclude<G>(node, in_b, own_b, columns.of_b);
}

// All columns of a node, the first of which are at hand. The last pass overlaps with the one before
// rather than reach beyond the row.
template <int G, bool Weighted, class T>
inline void prove_row(const Claim<T>& claim, Node& node, TwoGroups<G>& first, Evidence& found) {
    const std::int64_t count = claim.columns;
    if (claim.drains) {
        conclude_known<Weighted>(node, claim);
        prove_columns<G, Weighted, false>(claim, node, first);
    } else {
        prove_columns<G, Weighted, true>(claim, node, first);
    }
    for (std::int64_t k = 2 * G; k < count; k += 2 * G) {
        const std::int64_t a = k + 2 * G <= count ? k : count - 2 * G;
        TwoGroups<G> columns(a, a + G, found);
        prove_columns<G, Weighted, false>(claim, node, columns);
        columns.store(found);
    }
}

// All columns of a node, up to G − 1 of them, packed behind h. What is found of h itself, as if it
// were a column, and of lanes without any, is left aside.
template <int G, bool Weighted, class T>
inline void prove_packed(const Claim<T>& claim, Node& node, Maxima<G>& found) {
    const Graph& graph = claim.graph;
    const std::int64_t stop = ask_for_rows_until(claim, G * sizeof(double)), count = claim.columns;
    const double* const Z = claim.packed;
    const auto n_nodes = static_cast<std::uint32_t>(graph.n_nodes);
    const Doubles<G> own = load<G>(Z + node.i * G);
    Flow<Doubles<G>> in;
    double degree = Weighted ? 0.0 : static_cast<double>(node.last - node.first), tied = 0;
    for (std::int64_t e = node.first; e < node.last; ++e) {
        if (e < stop) __builtin_prefetch(Z + graph.ends[e + ahead] * std::int64_t{G});
        Doubles<G> term = load<G>(Z + end_of(graph, e, n_nodes) * G) - own;
        if (Weighted) term *= graph.weights[e];
        if (Weighted) degree += graph.weights[e];
        in.sum += term;
        in.sizes += size_of<G>(term);
    }
    if (node.tie >= 0) {
        const Ties& ties = claim.ties;
        double known[G] = {};
        for (std::int64_t k = 0; k < count; ++k) known[k + 1] = ties.values[node.tie * count + k];
        tied = ties.weights[node.tie];
        const Doubles<G> term = tied * (load<G>(known) - own);
        in.sum += term;
        in.sizes += (1 + ties.roundings / terms_of(node)) * size_of<G>(term);
    }
    conclude(node, {in.sum[0], in.sizes[0]}, degree, tied, own[0], claim.leak);
    conclude<G>(node, in, own, found);
}

// Sums over the edges of a node, of one column, four entries at a time.
template <bool Weighted, class T>
inline Flow<double> flow_of_one(const Graph& graph, const Node& node, const T* x) {
    constexpr int at_once = 4;
    const std::int32_t* const ends = graph.ends;
    const double own = x[node.i];
    const auto n_nodes = static_cast<std::uint32_t>(graph.n_nodes);
    Flow<Doubles<at_once>> four;
    Flow<double> in;
    const std::int64_t stop =
        ask_for_entries_until(graph.n_entries(), sizeof *ends + Weighted * sizeof *graph.weights);
    std::int64_t e = node.first;
    for (; e + at_once <= node.last; e += at_once) {
        if (e < stop) {
            __builtin_prefetch(ends + e + entries_ahead, 0, 0);
            if (Weighted) __builtin_prefetch(graph.weights + e + entries_ahead, 0, 0);
        }
        check_four(ends + e, n_nodes);
        const T others[] = {x[ends[e]], x[ends[e + 1]], x[ends[e + 2]], x[ends[e + 3]]};
        Doubles<at_once> term = load<at_once>(others) - own;
        if (Weighted) term *= load<at_once>(graph.weights + e);
        four.sum += term;
        four.sizes += size_of<at_once>(term);
    }
    for (; e < node.last; ++e) {
        const double term = (Weighted ? graph.weights[e] : 1.0) * (x[end_of(graph, e, n_nodes)] - own);
        in.sum += term;
        in.sizes += std::fabs(term);
    }
    for (int l = 0; l < at_once; ++l) {
        in.sum += four.sum[l];
        in.sizes += four.sizes[l];
    }
    return in;
}

// With a further term, of a tie that holds a number at `known`.
template <class T>
inline void add_tie(const Claim<T>& claim, const Node& node, double known, double own,
                    Flow<double>& in) {
    const double term = claim.ties.weights[node.tie] * (known - own);
    in.sum += term;
    in.sizes += (1 + claim.ties.roundings / terms_of(node)) * std::fabs(term);
}

// The only column of a node, where it is known what h drains.
template <bool Weighted, class T>
inline void prove_one(const Claim<T>& claim, Node& node, Maxima<1>& found) {
    conclude_known<Weighted>(node, claim);
    const double own = claim.X[node.i];
    Flow<double> in = flow_of_one<Weighted>(claim.graph, node, claim.X);
    if (node.tie >= 0) add_tie(claim, node, claim.ties.values[node.tie], own, in);
    conclude<1>(node, {Doubles<1>{in.sum}, Doubles<1>{in.sizes}}, Doubles<1>{own}, found);
}

// All rows; `prove` does one of them.
template <class T, class Prove>
inline void prove_rows(const Claim<T>& claim, std::int64_t first, std::int64_t last, Evidence& found,
                       Prove prove) {
    for (std::int64_t i = first; i < last; ++i) {
        const double h = claim.h[i];
        if (!claim.free[i]) {
            found.stray |= h != 0;
            continue;
        }
        Node node{i, claim.graph.start[i], claim.graph.start[i + 1]};
        if (claim.ties.row_of) node.tie = claim.ties.row_of[i];
        prove(node);
        const double d = node.degree;
        found.least_degree = d < found.least_degree ? d : found.least_degree;
        found.greatest_degree = d > found.greatest_degree ? d : found.greatest_degree;
        found.least_exit = h < found.least_exit ? h : found.least_exit;
        found.greatest_exit = h > found.greatest_exit ? h : found.greatest_exit;
        ++found.n_nodes;
    }
}

template <int G, bool Weighted, class T>
void prove_all(const Claim<T>& claim, std::int64_t first, std::int64_t last, Evidence& found) {
    const std::int64_t count = claim.columns;
    TwoGroups<G> columns(0, count < 2 * G ? count - G : G, found);
    prove_rows(claim, first, last, found,
               [&](Node& node) { prove_row<G, Weighted>(claim, node, columns, found); });
    columns.store(found);
}

template <int G, bool Weighted, class T>
void prove_all_packed(const Claim<T>& claim, std::int64_t first, std::int64_t last, Evidence& found) {
    Maxima<G> maxima;
    maxima.load(found, 0, 1, claim.columns);
    prove_rows(claim, first, last, found,
               [&](Node& node) { prove_packed<G, Weighted>(claim, node, maxima); });
    maxima.store(found, 0, 1, claim.columns);
}

template <bool Weighted, class T>
void prove_all_of_one(const Claim<T>& claim, std::int64_t first, std::int64_t last, Evidence& found) {
    Maxima<1> maxima;
    maxima.load(found, 0, 0, 1);
    prove_rows(claim, first, last, found,
               [&](Node& node) { prove_one<Weighted>(claim, node, maxima); });
    maxima.store(found, 0, 0, 1);
}

template <bool Weighted>
void drain_all(const Claim<double>& claim, std::int64_t first, std::int64_t last, double* drains) {
    Evidence of_no_column(0);
    prove_rows(claim, first, last, of_no_column, [&](Node& node) {
        const double own = claim.h[node.i], degree = degree_of<Weighted>(claim.graph, node);
        Flow<double> in = flow_of_one<Weighted>(claim.graph, node, claim.h);
        if (node.tie >= 0) add_tie(claim, node, 0.0, own, in);
        conclude(node, in, degree, tie_of(claim, node), own, claim.leak);
        drains[node.i] = node.drain > 0 ? node.drain : 0;
    });
}
void any_drain(const Claim<double>& claim, std::int64_t first, std::int64_t last, double* drains) {
    if (claim.graph.weights) drain_all<true>(claim, first, last, drains);
    else drain_all<false>(claim, first, last, drains);
}

// G columns at a time, or fewer where there are no more than that.
template <int G, class T>
void by_width(const Claim<T>& claim, std::int64_t first, std::int64_t last, Evidence& found) {
    if constexpr (G > 1) {
        if (claim.columns <= G) return by_width<G / 2>(claim, first, last, found);
    }
    if (claim.graph.weights) prove_all<G, true>(claim, first, last, found);
    else prove_all<G, false>(claim, first, last, found);
}

template <int G, class T>
void by_packed(const Claim<T>& claim, std::int64_t first, std::int64_t last, Evidence& found) {
    if (claim.graph.weights) prove_all_packed<G, true>(claim, first, last, found);
    else prove_all_packed<G, false>(claim, first, last, found);
}

template <class T>
void any_rows(const Claim<T>& claim, std::int64_t first, std::int64_t last, Evidence& found) {
    if (claim.drains && claim.columns == 1) {
        if (claim.graph.weights) return prove_all_of_one<true>(claim, first, last, found);
        return prove_all_of_one<false>(claim, first, last, found);
    }
    if (claim.width_packed == 2) by_packed<2>(claim, first, last, found);
    else if (claim.width_packed == 4) by_packed<4>(claim, first, last, found);
    else by_width<widest>(claim, first, last, found);
}

constexpr Prover prover = {any_drain, any_rows<float>, any_rows<double>};

}  // namespace

const Prover& ISOTHERM_NAMED(prover_)() { return prover; }

}  // namespace isotherm
