// What the tests of the core share: checks, random graphs, and the same as the core in slow and obvious
// loops. Each file has dice of its own, so that no test depends on those of another file.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bad_graph.hpp"
#include "build.hpp"
#include "kernels.hpp"
#include "proof.hpp"
#include "reach.hpp"

namespace isotherm {

// See test_core.cpp.
void test_graphs();
void test_kernels();
void test_solves();
void test_solves_on_threads();
void test_steering();
void test_interrupts_on_threads();
void test_proofs();
void test_proofs_on_threads();
void test_rounding();
void test_certificates();
void test_verdicts();
void test_threads();

namespace {

using Int = std::int64_t;
using Doubles = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)

inline void check(bool holds, const char* condition, const char* file, int line) {
    if (holds) return;
    std::fprintf(stderr, "%s:%d: not true: %s\n", file, line, condition);
    std::exit(1);
}

template <class Error, class Body>
bool throws(Body body) {
    try {
        body();
    } catch (const Error&) {
        return true;
    }
    return false;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

inline std::vector<const Kernels*> all_kernels() {
    std::vector<const Kernels*> found;
    for (const char* const name : {"plain", "avx2", "avx512"}) {
        if (find_kernels(name)) found.push_back(find_kernels(name));
    }
    return found;
}

// --- random graphs -------------------------------------------------------------------------------

// The standard fixes the numbers of the engine, but not those of its distributions.
struct Dice {
    std::mt19937_64 engine;
    Int below(Int n) { return static_cast<Int>(engine() % static_cast<std::uint64_t>(n)); }
    double uniform() { return static_cast<double>(engine() >> 11) * 0x1p-53; }
};
Dice dice{std::mt19937_64(2024)};

struct Edges {
    Int n_nodes = 0;
    std::vector<Int> source, target;
    Doubles weight;

    void add(Int i, Int j) {
        source.push_back(i);
        target.push_back(j);
        weight.push_back(0.25 + dice.uniform());
    }
    Int count() const { return static_cast<Int>(source.size()); }
};

// With few edges per node there are hanging trees, duplicates, self loops and several components.
inline Edges scattered(Int n_nodes, Int n_edges) {
    Edges edges{n_nodes, {}, {}, {}};
    while (edges.count() < n_edges) edges.add(dice.below(n_nodes), dice.below(n_nodes));
    return edges;
}

// Each node hangs from one of so many before it.
inline Edges tree(Int n_nodes, Int so_many) {
    Edges edges{n_nodes, {}, {}, {}};
    for (Int i = 1; i < n_nodes; ++i) edges.add(i, i - 1 - dice.below(std::min(i, so_many)));
    return edges;
}

inline Edges path(Int n_nodes) { return tree(n_nodes, 1); }

// No node that is eliminated has more than two neighbours, the last node being the ground.
inline Edges diamonds(Int n_diamonds) {
    Edges edges{3 * n_diamonds + 1, {}, {}, {}};
    for (Int i = 0; i < 3 * n_diamonds; i += 3) {
        for (const Int side : {i + 1, i + 2}) {
            edges.add(i, side);
            edges.add(side, i + 3);
        }
    }
    return edges;
}

inline Edges ladder(Int n_rungs) {
    Edges edges{2 * n_rungs, {}, {}, {}};
    for (Int i = 0; i < 2 * n_rungs; i += 2) {
        edges.add(i, i + 1);
        for (const Int side : {i, i + 1}) {
            if (i + 2 < 2 * n_rungs) edges.add(side, side + 2);
        }
    }
    return edges;
}

inline Edges strip(Int length, Int width) {
    Edges edges{width * length, {}, {}, {}};
    for (Int i = 0; i < edges.n_nodes; ++i) {
        if (i % width < width - 1) edges.add(i, i + 1);
        if (i + width < edges.n_nodes) edges.add(i, i + width);
    }
    return edges;
}

inline Edges with_hub(Edges edges) {
    for (Int i = 1; i <= 300; ++i) edges.add(0, i);
    return edges;
}

template <class Index>
inline OwnGraph built(const Edges& edges, bool weighted, int threads) {
    const std::vector<Index> source(edges.source.begin(), edges.source.end());
    const std::vector<Index> target(edges.target.begin(), edges.target.end());
    return from_edges<Index>(edges.n_nodes, edges.count(), source.data(), target.data(),
                             weighted ? edges.weight.data() : nullptr, threads);
}

inline Graph view(const OwnGraph& own) {
    return {own.n_nodes, own.start.get(), own.ends.get(), own.weights.get()};
}

// A graph with a boundary. Node 0, the hub if there is one, is not on it.
struct Sample {
    OwnGraph own;
    Int n;
    Doubles degrees;
    std::vector<std::uint8_t> fixed, free;

    Sample(const Edges& edges, bool weighted, double share_fixed)
        : own(built<std::int32_t>(edges, weighted, 1)), n(own.n_nodes), degrees(n), fixed(n, 0) {
        row_sums(view(own), degrees.data(), 1);
        for (Int i = 1; i < n; ++i) fixed[i] = i == n - 1 || dice.uniform() < share_fixed;
        free = fixed;
        reach(view(own), free.data(), 1);
        for (Int i = 0; i < n; ++i) free[i] = free[i] && !fixed[i];
    }
};

// --- slow and obvious ----------------------------------------------------------------------------

using Entries = std::map<std::pair<Int, Int>, double>;

inline Entries entries_of(const Edges& edges, bool weighted) {
    std::vector<std::pair<double, Int>> increasing;
    for (Int e = 0; e < edges.count(); ++e) increasing.emplace_back(edges.weight[e], e);
    std::sort(increasing.begin(), increasing.end());
    Entries entries;
    for (const auto& [w, e] : increasing) {
        const Int i = edges.source[e], j = edges.target[e];
        entries[{i, j}] = weighted ? entries[{i, j}] + w : 1;
        entries[{j, i}] = entries[{i, j}];
    }
    return entries;
}

// The least node of each node's component.
inline std::vector<Int> least_nodes(const Edges& edges) {
    std::vector<Int> least(edges.n_nodes);
    for (Int i = 0; i < edges.n_nodes; ++i) least[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (Int e = 0; e < edges.count(); ++e) {
            Int &a = least[edges.source[e]], &b = least[edges.target[e]];
            changed |= a != b;
            a = b = std::min(a, b);
        }
    }
    return least;
}

using Dense = std::vector<Doubles>;

// M⁻¹ on free nodes, the identity elsewhere. An M-matrix needs no pivoting.
inline Dense inverse_of(const Sample& s, double leak) {
    const Graph graph = view(s.own);
    const Int n = s.n;
    Dense M(n, Doubles(2 * n, 0.0));  // and beside it what becomes the inverse
    for (Int i = 0; i < n; ++i) {
        M[i][i] = s.free[i] ? (1 + leak) * s.degrees[i] : 1.0;
        M[i][n + i] = 1;
        for (Int e = graph.start[i]; s.free[i] && e < graph.start[i + 1]; ++e) {
            if (s.free[graph.ends[e]]) M[i][graph.ends[e]] -= graph.weight(e);
        }
    }
    for (Int k = 0; k < n; ++k) {
        const double pivot = M[k][k];
        for (double& entry : M[k]) entry /= pivot;
        for (Int i = 0; i < n; ++i) {
            const double share = M[i][k];
            if (i == k || share == 0) continue;
            for (Int j = 0; j < 2 * n; ++j) M[i][j] -= share * M[k][j];
        }
    }
    for (Doubles& row : M) row.erase(row.begin(), row.begin() + n);
    return M;
}

// M⁻¹ b at free nodes, 0 elsewhere.
template <class Source>
Doubles solved(const Sample& s, const Dense& inverse, Source b) {
    Doubles x(s.n, 0.0);
    for (Int j = 0; j < s.n; ++j) {
        const double source = s.free[j] ? b(j) : 0.0;
        for (Int i = 0; source != 0 && i < s.n; ++i) x[i] += s.free[i] * inverse[i][j] * source;
    }
    return x;
}

// (A − (1 + τ) D) x at node i, with next to no rounding, not even that of the degree.
template <class Value>
long double inflow(const Operator& M, Int i, Value x) {
    long double flow = 0, degree = 0;
    for (Int e = M.graph.start[i]; e < M.graph.start[i + 1]; ++e) {
        const long double w = M.graph.weight(e);
        flow += w * x(M.graph.ends[e]);
        degree += w;
    }
    return flow - (1 + static_cast<long double>(M.leak)) * degree * x(i);
}

// The residual of column k, or of h in the place after the last column.
template <class T>
long double residual(const Operator& M, Int i, const Columns<T>& X, int k, const double* h) {
    if (k < X.count) return inflow(M, i, [&](Int j) { return X.first[j * X.stride + k]; });
    return gauge(M, i) + inflow(M, i, [&](Int j) { return h[j]; });
}

}  // namespace
}  // namespace isotherm
