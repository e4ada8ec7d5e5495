// The core against slow obvious loops, on random graphs. It is there to be run under sanitizers:
//   cmake -S native -B build/core -DISOTHERM_TEST_CORE=ON -DISOTHERM_SANITIZE=address,undefined
//   cmake --build build/core && build/core/test_core
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
#include "descent.hpp"
#include "factor.hpp"
#include "freed.hpp"
#include "judge.hpp"
#include "marks.hpp"
#include "kernels.hpp"
#include "lookup.hpp"
#include "multiply.hpp"
#include "names.hpp"
#include "proof.hpp"
#include "reach.hpp"
#include "steering.hpp"
#include "superpose.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

using Int = std::int64_t;
using Doubles = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

#define CHECK(condition) check((condition), #condition, __LINE__)

void check(bool holds, const char* condition, int line) {
    if (holds) return;
    std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, line, condition);
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

std::vector<const Kernels*> all_kernels() {
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
Edges scattered(Int n_nodes, Int n_edges) {
    Edges edges{n_nodes, {}, {}, {}};
    while (edges.count() < n_edges) edges.add(dice.below(n_nodes), dice.below(n_nodes));
    return edges;
}

// Each node hangs from one of so many before it.
Edges tree(Int n_nodes, Int so_many) {
    Edges edges{n_nodes, {}, {}, {}};
    for (Int i = 1; i < n_nodes; ++i) edges.add(i, i - 1 - dice.below(std::min(i, so_many)));
    return edges;
}

Edges path(Int n_nodes) { return tree(n_nodes, 1); }

// No node that is eliminated has more than two neighbours, the last node being the ground.
Edges diamonds(Int n_diamonds) {
    Edges edges{3 * n_diamonds + 1, {}, {}, {}};
    for (Int i = 0; i < 3 * n_diamonds; i += 3) {
        for (const Int side : {i + 1, i + 2}) {
            edges.add(i, side);
            edges.add(side, i + 3);
        }
    }
    return edges;
}

Edges ladder(Int n_rungs) {
    Edges edges{2 * n_rungs, {}, {}, {}};
    for (Int i = 0; i < 2 * n_rungs; i += 2) {
        edges.add(i, i + 1);
        for (const Int side : {i, i + 1}) {
            if (i + 2 < 2 * n_rungs) edges.add(side, side + 2);
        }
    }
    return edges;
}

Edges strip(Int length, Int width) {
    Edges edges{width * length, {}, {}, {}};
    for (Int i = 0; i < edges.n_nodes; ++i) {
        if (i % width < width - 1) edges.add(i, i + 1);
        if (i + width < edges.n_nodes) edges.add(i, i + width);
    }
    return edges;
}

Edges with_hub(Edges edges) {
    for (Int i = 1; i <= 300; ++i) edges.add(0, i);
    return edges;
}

template <class Index>
OwnGraph built(const Edges& edges, bool weighted, int threads) {
    const std::vector<Index> source(edges.source.begin(), edges.source.end());
    const std::vector<Index> target(edges.target.begin(), edges.target.end());
    return from_edges<Index>(edges.n_nodes, edges.count(), source.data(), target.data(),
                             weighted ? edges.weight.data() : nullptr, threads);
}

Graph view(const OwnGraph& own) {
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

Entries entries_of(const Edges& edges, bool weighted) {
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
std::vector<Int> least_nodes(const Edges& edges) {
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
Dense inverse_of(const Sample& s, double leak) {
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

// --- building and reaching -----------------------------------------------------------------------

template <class Index>
void edges_become_a_symmetric_matrix(const Edges& edges, const Entries& entries, bool weighted,
                                     int threads) {
    const OwnGraph own = built<Index>(edges, weighted, threads);
    CHECK(own.n_entries == static_cast<Int>(entries.size()));
    CHECK((own.weights.get() != nullptr) == (weighted && own.n_entries > 0));
    Doubles degrees(own.n_nodes, 0.0), sums = degrees;
    Int at = 0;
    for (const auto& [ends, weight] : entries) {
        CHECK(own.start[ends.first] <= at && at < own.start[ends.first + 1]);
        CHECK(own.ends[at] == ends.second && view(own).weight(at) == weight);
        degrees[ends.first] += weight;
        ++at;
    }
    row_sums(view(own), sums.data(), threads);
    CHECK(sums == degrees);
    const Findings found = inspect(view(own), threads);
    CHECK(found.sorted && found.symmetric && !found.zeros && !found.faulty);
    CHECK(found.ones == !own.weights.get());

    const auto panel = static_cast<std::size_t>(own.n_nodes * panel_width);
    std::vector<float> X(panel), product(panel), slow(panel, 0.0f);
    for (std::size_t k = 0; k < panel; ++k) X[k] = static_cast<float>(k % 7) - 3;
    multiply(view(own), X.data(), product.data(), threads);
    for (const auto& [ends, weight] : entries) {
        for (int l = 0; l < panel_width; ++l) {
            slow[ends.first * panel_width + l] +=
                static_cast<float>(weight) * X[ends.second * panel_width + l];
        }
    }
    CHECK(product == slow);
}

// The rows of the whole, from entries that were put in order by ranges of rows.
void ranges_of_rows_are_those_of_the_whole(const Edges& edges, bool weighted, int threads) {
    const OwnGraph whole = built<std::int32_t>(edges, weighted, threads);
    const std::vector<std::int32_t> source(edges.source.begin(), edges.source.end());
    const std::vector<std::int32_t> target(edges.target.begin(), edges.target.end());
    const auto n = static_cast<std::int32_t>(edges.n_nodes);
    const std::vector<std::int32_t> cuts{0, n / 7, n / 3, n / 3, n};
    const RangedEntries entries =
        scatter(edges.count(), source.data(), target.data(),
                weighted ? edges.weight.data() : nullptr, 4, cuts.data());
    for (int b = 0; b < 4; ++b) {
        const Int from = entries.first[b], count = entries.first[b + 1] - from;
        const OwnGraph rows = from_entries(
            cuts[b], cuts[b + 1] - cuts[b], n, count, entries.rows.get() + from,
            entries.ends.get() + from, weighted ? entries.weights.get() + from : nullptr, threads);
        const Int first = whole.start[cuts[b]];
        CHECK(rows.n_entries == whole.start[cuts[b + 1]] - first);
        for (Int i = 0; i < rows.n_nodes; ++i) {
            CHECK(rows.start[i] == whole.start[cuts[b] + i] - first);
        }
        for (Int e = 0; e < rows.n_entries; ++e) {
            CHECK(rows.ends[e] == whole.ends[first + e]);
            CHECK(view(rows).weight(e) == view(whole).weight(first + e));
        }
    }
    if (edges.count() > 0) {
        const std::vector<std::int32_t> too_few{0, 0};
        CHECK(throws<std::out_of_range>([&] {
            scatter(edges.count(), source.data(), target.data(), nullptr, 1, too_few.data());
        }));
    }
}

void an_end_outside_the_graph_is_refused(Edges edges, int threads) {
    for (const Int wrong : {Int{-1}, edges.n_nodes}) {
        for (auto* const ends : {&edges.source, &edges.target}) {
            const Int good = std::exchange(ends->back(), wrong);
            CHECK(throws<std::out_of_range>([&] { built<std::int32_t>(edges, true, threads); }));
            CHECK(throws<std::out_of_range>([&] { built<Int>(edges, false, threads); }));
            ends->back() = good;
        }
    }
}

void inspection_finds_what_is_wrong(int threads) {
    using Starts = std::vector<Int>;
    using Ends = std::vector<std::int32_t>;
    const Starts start{0, 1, 3, 5};  // 0 – 1 – 2, and a self loop at 2
    const Ends ends{1, 0, 2, 1, 2};
    const Doubles weights{2, 2, 3, 3, 1};
    const auto found = [&](const Starts& start_, const Ends& ends_, const Doubles& weights_) {
        return inspect({3, start_.data(), ends_.data(), weights_.data()}, threads);
    };
    const auto with_loop = [&](double w) { return found(start, ends, {2, 2, 3, 3, w}); };
    const Findings good = found(start, ends, weights);
    CHECK(good.sorted && good.symmetric && !good.ones && !good.zeros && !good.faulty);
    CHECK(found(start, ends, {1, 1, 1, 1, 1}).ones);
    const Findings unsorted = found(start, {1, 2, 0, 1, 2}, {2, 3, 2, 3, 1});
    CHECK(!unsorted.sorted && unsorted.symmetric);
    for (const Ends& bad : {Ends{1, 0, 0, 1, 2}, Ends{1, 0, 3, 1, 2}, Ends{-1, 0, 2, 1, 2}}) {
        CHECK(!found(start, bad, weights).sorted);
    }
    CHECK(!found(start, {2, 0, 2, 1, 2}, weights).symmetric);
    CHECK(!found(start, ends, {2.5, 2, 3, 3, 1}).symmetric);
    CHECK(with_loop(0).zeros && !with_loop(0).faulty && with_loop(0).symmetric);
    for (const double bad : {-1.0, infinity, -infinity, nan}) CHECK(with_loop(bad).faulty);
    CHECK(throws<BadGraph>([&] { found({0, 3, 1, 5}, ends, weights); }));
}

// Rows of all lengths, from none to more than are looked at at once.
struct LongAndShort {
    std::vector<Int> start{0};
    std::vector<std::int32_t> ends;
    Graph view() const { return {Int(start.size()) - 1, start.data(), ends.data(), nullptr}; }

    LongAndShort() {
        const Int lengths[] = {0, 1, 2, 0, 15, 16, 17, 0, 40, 1000, 3, 30, 2500, 1, 0, 7, 0};
        const Int n = 3 * 2500;
        for (Int i = 0; i < n; ++i) {
            const Int length = i < Int(std::size(lengths)) ? lengths[i] : dice.below(5);
            for (Int e = 0; e < length; ++e) ends.push_back(std::int32_t(3 * e + i % 3));
            start.push_back(Int(ends.size()));
        }
    }
};

void rows_have_one_fingerprint(const Kernels* kernels) {
    const LongAndShort rows;
    const Graph graph = rows.view();
    const Int cuts[] = {0, 1, 9, 10, 13, 100, graph.n_nodes};
    constexpr std::uint64_t key = 0x0123456789abcdef;
    for (int c = 0; c + 1 < Int(std::size(cuts)); ++c) {
        std::uint64_t sum = 0;
        for (Int i = cuts[c]; i < cuts[c + 1]; ++i) {
            for (Int e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                sum += marks<std::uint64_t>(std::uint64_t(i), std::uint64_t(graph.ends[e]), key);
            }
        }
        const RowsSeen seen = kernels->look(graph, cuts[c], cuts[c + 1], key);
        CHECK(seen.fingerprint == sum && seen.sorted);
    }
    const auto mark = [](std::uint64_t i, std::uint64_t j, std::uint64_t by) {
        return marks<std::uint64_t>(i, j, by);
    };
    CHECK(mark(3, 5, key) == 0 - mark(5, 3, key));
    CHECK(mark(3, 3, key) == 0 && mark(3, 5, key) != 0);
    CHECK(mark(3, 5, key) - mark(3, 6, key) != mark(3, 5, key + 1) - mark(3, 6, key + 1));
}

void faults_in_the_order_are_found_wherever_they_are(const Kernels* kernels) {
    LongAndShort rows;
    const Graph graph = rows.view();
    for (Int i = 0; i < 40; ++i) {
        for (Int e = graph.start[i]; e < graph.start[i + 1]; ++e) {
            const std::int32_t right = rows.ends[e], before = e > graph.start[i] ? rows.ends[e - 1] : -1;
            for (const std::int32_t wrong : {before, before - 1, std::int32_t(graph.n_nodes)}) {
                rows.ends[e] = wrong;
                CHECK(!kernels->look(graph, 0, 40, 1).sorted);
            }
            rows.ends[e] = right;
        }
    }
    CHECK(kernels->look(graph, 0, graph.n_nodes, 1).sorted);
}

// Texts of all lengths, many of them alike but for a byte, numbered as a map would.
void names_are_numbered_as_they_appear(int threads) {
    std::map<std::string, std::int32_t> expected;
    Names names;
    std::uint64_t state = 7;
    const auto draw = [&](std::uint64_t below) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (state >> 33) % below;
    };
    for (int part = 0; part < 6; ++part) {
        std::string bytes = "xy";  // texts need not start at 0
        std::vector<std::int64_t> start{2};
        std::vector<std::string> texts;
        for (int k = 0; k < 3000; ++k) {
            std::string text(draw(40), 'a');
            if (!text.empty()) text[draw(text.size())] = static_cast<char>('a' + draw(26));
            if (k == 11) text = std::string(1 << 21, 'z') + static_cast<char>('a' + part % 3);
            texts.push_back(text);
            bytes += text;
            start.push_back(static_cast<std::int64_t>(bytes.size()));
        }
        std::vector<std::int32_t> numbers(texts.size());
        if (part % 2) {
            const std::vector<std::int32_t> narrow(start.begin(), start.end());
            names.encode(Texts<std::int32_t>{3000, narrow.data(), bytes.data()}, numbers.data(),
                         threads);
        } else {
            names.encode(Texts<std::int64_t>{3000, start.data(), bytes.data()}, numbers.data(),
                         threads);
        }
        for (std::size_t k = 0; k < texts.size(); ++k) {
            const auto next = static_cast<std::int32_t>(expected.size());
            CHECK(numbers[k] == expected.emplace(texts[k], next).first->second);
        }
    }
    CHECK(names.count() == static_cast<Int>(expected.size()));
    for (const auto& [text, number] : expected) {
        const Int at = names.start()[number], length = names.start()[number + 1] - at;
        CHECK(std::string(names.bytes() + at, static_cast<std::size_t>(length)) == text);
    }
}

// A table finds what it was made of; one that leads outside finds nothing, and reads nothing there.
void names_are_found_in_a_table() {
    std::string bytes;
    std::vector<Int> start{0};
    for (int k = 0; k < 500; ++k) {
        bytes += std::string(static_cast<std::size_t>(k % 23), 'x') + std::to_string(k);
        start.push_back(static_cast<Int>(bytes.size()));
    }
    std::vector<std::int32_t> slots(1024, 0);
    const auto n_bytes = static_cast<Int>(bytes.size());
    const Lookup table{500, start.data(), bytes.data(), n_bytes, 77, 1024, slots.data()};
    CHECK(fill(table) == 0);
    std::vector<Int> places(500);
    find(table, 500, start.data(), bytes.data(), places.data());
    for (Int k = 0; k < 500; ++k) CHECK(places[k] == k);
    const std::string other = "nobody";
    const std::vector<Int> one{0, static_cast<Int>(other.size())};
    find(table, 1, one.data(), other.data(), places.data());
    CHECK(places[0] == -1);

    const std::vector<Int> numbers{5, -7, 1 << 20};
    std::vector<std::int32_t> few(8, 0);
    const auto* const own = reinterpret_cast<const char*>(numbers.data());
    const Lookup of_numbers{3, nullptr, own, 24, 1, 8, few.data()};
    CHECK(fill(of_numbers) == 0);
    find(of_numbers, 3, nullptr, own, places.data());
    CHECK(places[0] == 0 && places[1] == 1 && places[2] == 2);

    for (auto& slot : slots) slot = slot == 0 ? -5 : slot + (1 << 30);
    find(table, 1, one.data(), other.data(), places.data());
    CHECK(places[0] == -1);
    for (std::size_t k = 0; k < slots.size(); ++k) slots[k] = static_cast<std::int32_t>(k % 500) + 1;
    for (const Int wrong : {Int{-9}, Int{1} << 60, n_bytes + 1}) {
        std::vector<Int> astray(501, wrong);
        const Lookup bad{500, astray.data(), bytes.data(), n_bytes, 77, 1024, slots.data()};
        find(bad, 1, one.data(), other.data(), places.data());
        CHECK(places[0] == -1);
    }
}

void components_are_numbered_by_their_least_nodes(const Edges& edges, int threads) {
    const auto least = least_nodes(edges);
    std::vector<std::int32_t> component(least.size());
    const OwnGraph own = built<std::int32_t>(edges, false, threads);
    const Int count = components(view(own), component.data(), threads);
    Int seen = 0;
    for (Int i = 0; i < edges.n_nodes; ++i) {
        CHECK(component[i] == (least[i] == i ? seen++ : component[least[i]]));
    }
    CHECK(count == seen);
}

// Marks run up a path in a single pass, but not down: from the last node on they must be pushed.
void marks_reach_all_of_their_component(const Edges& edges, Int n_marks, int threads) {
    const auto least = least_nodes(edges);
    std::vector<std::uint8_t> marked(least.size(), 0), reached(least.size(), 0);
    for (Int i = edges.n_nodes - n_marks; i < edges.n_nodes; ++i) marked[i] = reached[least[i]] = 1;
    reach(view(built<std::int32_t>(edges, false, threads)), marked.data(), threads);
    for (Int i = 0; i < edges.n_nodes; ++i) CHECK(marked[i] == reached[least[i]]);
}

// --- solving -------------------------------------------------------------------------------------

struct Options {
    int columns;
    bool exits, hidden, factor, peeling, root;
    double leak;
    int threads;
    const Kernels* kernels;
    bool reduced = true;
    bool reordered = false;  // amid the steps

    int count() const { return columns + hidden; }
    // Each row of X begins with a number that is none of its columns; after the last row comes
    // memory that is not ours.
    Int stride() const { return count() + 1; }
};

Problem problem_of(const Sample& s, const Options& o) {
    return Problem(view(s.own), s.free.data(), s.degrees.data(), nullptr, o.leak, o.root, o.peeling,
                   o.threads, *o.kernels, o.reduced);
}

// Temperatures to begin with, the same in float as in double.
struct Boundary {
    Doubles values, low, high, scale;

    Boundary(const Sample& s, const Options& o)
        : low(o.count(), o.leak > 0 ? 0.0 : infinity),
          high(o.count(), o.leak > 0 ? 0.0 : -infinity) {
        const bool one_sign = o.hidden || dice.below(2);
        for (Int i = 0; i < s.n; ++i) {
            values.push_back(nan);
            const Int hot = dice.below(std::max(1, o.count()));
            for (int k = 0; k < o.count(); ++k) {
                double t = static_cast<double>(dice.below(129)) / 64 - (one_sign ? 0 : 1);
                if (k == 2) t = 0;  // a lane without any heat
                if (o.hidden) t = k == hot;
                // A node out of reach has none: who reads it shall not go unnoticed.
                values.push_back(s.free[i] ? 0.0 : s.fixed[i] ? t : nan);
                if (!s.fixed[i]) continue;
                low[k] = std::min(low[k], t);
                high[k] = std::max(high[k], t);
            }
        }
        for (int k = 0; k < o.count(); ++k) {
            scale.push_back(high[k] > low[k] ? high[k] - low[k] : 1.0);
        }
    }
};

template <class T>
void fresh_levels_are_those_of_the_residual(const Operator& M, const Columns<T>& X, bool hidden,
                                            const double* h, const Levels& found) {
    for (int k = 0; k < X.count + (h != nullptr); ++k) {
        const bool is_hidden = hidden && k == X.count - 1;  // as it is before it is rounded or clipped
        long double most = 0;
        for (Int i = 0; i < M.graph.n_nodes; ++i) {
            if (M.kind[i] == held) continue;
            long double r = is_hidden ? 0 : residual(M, i, X, k, h);
            for (int l = 0; is_hidden && l < k; ++l) r += residual(M, i, X, l, h);
            most = std::max(most, std::fabs(r) / gauge(M, i));
        }
        const double level = k < X.count ? found.columns[k] : found.exits;
        CHECK(std::fabs(double(most) - level) <= 1e-10 * (1 + level));
    }
}

// Also where the lane of h is idle, and where h is too long for it.
template <class T>
void weighing_does_not_depend_on_the_lane_of_h(Descent& descent, const Operator& M, const Columns<T>& X,
                                               bool hidden, const Doubles& h, const Doubles& scale) {
    fresh_levels_are_those_of_the_residual(M, X, hidden, nullptr,
                                           descent.weigh(X, nullptr, scale.data()));
    Doubles longer(h);
    for (double& time : longer) time *= 1e7;
    const Levels found = descent.weigh(X, longer.data(), scale.data());
    fresh_levels_are_those_of_the_residual(M, X, hidden, longer.data(), found);
}

template <class T>
void levels_are_those_of_the_residual(const Operator& M, const Columns<T>& X, const double* h,
                                      const Options& o, const Doubles& scale, const float* levels) {
    double expected[max_width + 1] = {};
    for (Int i = 0; i < M.graph.n_nodes; ++i) {
        if (M.kind[i] != moving) continue;
        double sum = 0;
        for (int k = 0; k < o.columns + o.exits; ++k) {
            const bool is_h = k == o.columns;
            const auto r = double(residual(M, i, X, is_h ? X.count : k, h)) / (is_h ? 1 : scale[k]);
            expected[k] = std::max(expected[k], std::fabs(r) / gauge(M, i));
            if (!is_h) sum += r;
        }
        double& hidden = expected[max_width];
        if (o.hidden) hidden = std::max(hidden, std::fabs(sum) / gauge(M, i));
    }
    // The recurrence is in float: what it may be off by grows with the numbers of its lane.
    const double longest = h ? *std::max_element(h, h + M.graph.n_nodes) : 0.0;
    for (int l = 0; l <= max_width; ++l) {
        const double slack = 1e-4 + (l == o.columns && o.exits ? 1e-6 * longest : 0.0);
        CHECK(levels[l] >= expected[l] - slack);
        CHECK(o.peeling || levels[l] <= expected[l] + slack);  // a parent's may be overestimated
    }
}

// The hidden column follows from the others.
template <class T>
void complete(const Operator& M, const Columns<T>& X) {
    for (Int i = 0; i < M.graph.n_nodes; ++i) {
        if (M.kind[i] == held) continue;
        T* const row = X.first + i * X.stride;
        double rest = 1;
        for (int k = 0; k < X.count - 1; ++k) rest -= row[k];
        row[X.count - 1] = static_cast<T>(std::max(rest, 0.0));
    }
}

template <class T>
struct Outcome {
    std::vector<T> X;
    Doubles h;
    Levels found;
};

// Rounds of steps, each from a fresh residual, as the solvers go about it.
template <class T>
Outcome<T> solve(Problem& problem, const Boundary& boundary, const Options& o, int rounds) {
    const Operator& M = problem.M();
    Outcome<T> out{{boundary.values.begin(), boundary.values.end()}, {}, {}};
    out.h.resize(M.graph.n_nodes);
    double* const h = o.exits ? out.h.data() : nullptr;
    const Columns<T> X{out.X.data() + 1, o.stride(), o.count()};
    const Columns<T> iterated{X.first, X.stride, o.columns};
    Descent descent(problem, o.columns, o.exits, o.hidden);
    if (o.factor) descent.precondition(problem.factor());
    CHECK(descent.lanes() == o.columns + o.exits);
    // A beginning is from 0 at moving nodes; what is peeled off has its exit times already.
    descent.settle(Columns<T>{X.first, X.stride, o.columns}, h, boundary.low.data(),
                   boundary.high.data(), false);
    float target = 1;
    for (int round = 0;; ++round) {
        if (round == 0) {
            descent.begin(iterated, boundary.scale.data());
        } else {
            if (h && round == rounds) {
                weighing_does_not_depend_on_the_lane_of_h(descent, M, X, o.hidden, out.h, boundary.scale);
            }
            out.found = descent.weigh(X, h, boundary.scale.data());
            fresh_levels_are_those_of_the_residual(M, X, o.hidden, h, out.found);
        }
        if (round == rounds) return out;
        target *= 1e-6f;
        float levels[max_width + 1] = {1};
        for (int k = 0; k < 200 && *std::max_element(levels, levels + max_width) > target; ++k) {
            descent.step(iterated, h, levels);
            if (o.reordered && round == 0 && k == 0) {
                const std::vector<std::int32_t> before = problem.reorder();
                CHECK(before.empty() == (!o.reduced || problem.system().n_rows == 0));
                if (before.empty()) {  // it has an order of its own only now: X is weighed again
                    ++rounds;
                    target = 1;
                    break;
                }
                descent.follow(before);
            }
            if (k == 1) {
                const Doubles low(o.columns, -1e9), high(o.columns, 1e9);
                descent.settle(iterated, h, low.data(), high.data(), false);
                levels_are_those_of_the_residual(M, X, h, o, boundary.scale, levels);
            }
        }
        descent.settle(iterated, h, boundary.low.data(), boundary.high.data(), true);
        if (o.hidden) complete(M, X);
    }
}

template <class T>
void steps_lead_to_equilibrium(const Sample& s, const Dense& inverse, const Options& o) {
    Problem problem = problem_of(s, o);
    const Operator& M = problem.M();
    constexpr bool fine = sizeof(T) == 8;
    const Outcome<T> out = solve<T>(problem, Boundary(s, o), o, 2);
    const Doubles h = solved(s, inverse, [&](Int i) { return gauge(M, i); });
    for (int k = 0; k < o.count(); ++k) {
        const auto at = [&](Int i) { return out.X[i * o.stride() + 1 + k]; };
        const Doubles x = solved(s, inverse, [&](Int i) {
            return double(inflow(M, i, [&](Int j) { return s.free[j] ? T(0) : at(j); }));
        });
        const double level = out.found.columns[k];
        CHECK(level <= (fine ? 1e-9 : 1e-4));
        for (Int i = 0; i < s.n; ++i) {
            const double error = s.free[i] ? std::fabs(at(i) - x[i]) : 0.0;
            CHECK(error <= (fine ? 1e-8 : 1e-3));
            CHECK(error <= level * h[i] + (o.hidden ? 1e-5 : 1e-10));
        }
    }
    for (Int i = 0; i < s.n; ++i) CHECK(std::isnan(out.X[i * o.stride()]));
    const double eta = out.found.exits, longest = *std::max_element(h.begin(), h.end());
    for (Int i = 0; o.exits && i < s.n; ++i) {
        CHECK(eta < 0.01 && out.h[i] / (1 - std::max(eta, 0.0)) >= h[i] * (1 - 1e-9));
        CHECK(std::fabs(out.h[i] - h[i]) <= 1e-3 * longest);
    }
}

// Also from nodes that were peeled off.
template <class T>
void heat_put_in_spreads_to_equilibrium(const Sample& s, const Dense& inverse, const Options& o) {
    constexpr int all = 5, first = 2, count = all - first;
    Problem problem = problem_of(s, o);
    std::vector<std::int32_t> nodes;
    Doubles rows;
    for (Int i = 0; i < s.n; ++i) {
        if (!s.free[i] || dice.below(4)) continue;
        nodes.push_back(static_cast<std::int32_t>(i));
        for (int k = 0; k < all; ++k) rows.push_back(s.degrees[i] * dice.uniform());
    }
    const Sources sources(s.n, problem.peel(), static_cast<Int>(nodes.size()), nodes.data(),
                          rows.data(), all);
    const Heat given = sources.given(first);
    std::vector<T> X(s.n * count, 0);
    const Columns<T> columns{X.data(), count, count};
    const Doubles scale(count, 1.0), low(count, -1e9), high(count, 1e9);
    Descent descent(problem, count, false, false, &sources, first);
    if (o.factor) descent.precondition(problem.factor());
    for (int round = 0; round < 2; ++round) {
        if (round == 0) descent.begin(columns, scale.data());
        else descent.weigh(columns, nullptr, scale.data());
        float levels[max_width + 1] = {1};
        for (int k = 0; k < 200 && *std::max_element(levels, levels + count) > 1e-6f; ++k) {
            descent.step(columns, nullptr, levels);
        }
        descent.settle(columns, nullptr, low.data(), high.data(), true);
    }
    for (int k = 0; k < count; ++k) {
        const Doubles x = solved(s, inverse, [&](Int i) {
            return given.at(i) ? given.at(i)[k] : 0.0;
        });
        const double most = *std::max_element(x.begin(), x.end());
        for (Int i = 0; i < s.n; ++i) {
            if (s.free[i]) CHECK(std::fabs(X[i * count + k] - x[i]) <= 1e-3 * (1 + most));
        }
    }
}

void folded_nodes_follow_from_the_others(const Sample& s, const Dense& inverse, const Options& o) {
    const Problem problem = problem_of(s, o);
    const Operator& M = problem.M();
    const Fold& fold = problem.fold();
    const Doubles h = solved(s, inverse, [&](Int i) { return gauge(M, i); });
    const auto b = [&](Int i) {
        return double(inflow(M, i, [&](Int j) { return s.free[j] ? 0.0 : double(j % 7); }));
    };
    const Doubles x = solved(s, inverse, b);
    Doubles heat(s.n, 0.0);
    auto kind = s.free;
    for (Int k = 0; k < fold.size(); ++k) {
        const Int i = fold.nodes[k];
        CHECK(kind[i] == moving);
        kind[i] = peeled;
        heat[i] += b(i);
        double value = heat[i] * fold.inverse_pivots[k], time = fold.rise[k];
        for (Int e = fold.start[k]; e < fold.start[k + 1]; ++e) {
            CHECK(kind[fold.ends[e]] == moving);
            value += fold.ratios[e] * x[fold.ends[e]];
            time += fold.ratios[e] * h[fold.ends[e]];
            heat[fold.ends[e]] += fold.ratios[e] * heat[i];
        }
        CHECK(std::fabs(x[i] - value) <= 1e-9 * (1 + x[i]));
        CHECK(std::fabs(h[i] - time) <= 1e-9 * (1 + h[i]));
    }
    // Where folding does not pay, trees alone are peeled.
    CHECK(fold.empty() || problem.peel().child.empty());
    for (const Int i : problem.peel().child) kind[i] = peeled;
    CHECK(std::equal(kind.begin(), kind.end(), M.kind));
    CHECK(o.peeling || fold.empty());
}

// A reduced system is the graph's own, seen from fewer nodes: M x = b with the heat passed on.
void what_is_left_has_the_same_equilibrium(const Sample& s, const Dense& inverse, const Options& o) {
    Problem problem = problem_of(s, o);
    if (o.reordered) problem.reorder();
    const System& left = problem.system();
    for (Int i = 0; i < s.n; ++i) {
        const Int r = problem.row_of(i);
        CHECK(problem.M().kind[i] == moving ? problem.node_of(r) == i : r == -1);
    }
    const Operator& M = problem.M();
    const Doubles x = solved(s, inverse, [&](Int i) { return gauge(M, i); });
    Doubles passed(s.n, 0.0);
    for (std::size_t k = 0; k < problem.peel().child.size(); ++k) {
        const Int i = problem.peel().child[k];
        passed[problem.peel().parent[k]] += problem.peel().ratio[k] * (gauge(M, i) + passed[i]);
    }
    for (Int r = 0; r < left.n_rows; ++r) {
        const Int i = problem.nodes()[r];
        double flow = 0;
        for (Int e = left.start[r]; e < left.start[r + 1]; ++e) {
            const double w = left.weights ? left.weights[e] : left.weight_unit;
            flow += w * x[problem.nodes()[left.ends[e]]];
        }
        double b = gauge(M, i) + passed[i];
        if (!problem.fold().empty()) b += problem.fold().received[i];
        const double expected = left.mass[r] * x[i] - flow;
        CHECK(std::fabs(b / M.largest_pivot - expected) <= 1e-5 * (left.mass[r] * x[i] + flow));
    }
}

void peeled_nodes_follow_their_parents(const Sample& s, const Dense& inverse, const Options& o) {
    const Problem problem = problem_of(s, o);
    const Operator& M = problem.M();
    const Peel& peel = problem.peel();
    const Doubles h = solved(s, inverse, [&](Int i) { return gauge(M, i); });
    const Doubles x = solved(s, inverse, [&](Int i) {
        return double(inflow(M, i, [&](Int j) { return s.free[j] ? 0.0 : double(j % 7); }));
    });
    auto kind = s.free;
    for (std::size_t k = 0; k < peel.child.size(); ++k) {
        const Int i = peel.child[k], p = peel.parent[k];
        CHECK(kind[i] == moving && kind[p] == moving);
        kind[i] = peeled;
        CHECK(std::fabs(x[i] - peel.ratio[k] * x[p]) <= 1e-9);
        CHECK(std::fabs(h[i] - peel.rise[k] - peel.ratio[k] * h[p]) <= 1e-9 * (1 + h[i]));
    }
    CHECK(std::equal(kind.begin(), kind.end(), M.kind));
    CHECK(o.peeling || peel.child.empty());
}

template <class T>
void settling_clips_and_fills_peeled_nodes(const Sample& s, const Options& o) {
    const Problem problem = problem_of(s, o);
    const std::uint8_t* const kind = problem.M().kind;
    const Peel& peel = problem.peel();
    const int K = o.columns;
    const Doubles low(K, 0.25), high(K, 0.75);
    std::vector<T> X(s.n * K);
    for (T& t : X) t = static_cast<T>(dice.uniform());
    auto expected = X;
    for (Int at = 0; at < s.n * K; ++at) {
        if (kind[at / K] == moving) expected[at] = std::clamp(X[at], T(0.25), T(0.75));
    }
    Doubles h(s.n, 2.0);
    problem.settle(Columns<T>{X.data(), K, K}, h.data(), low.data(), high.data(), {}, nullptr);
    for (std::size_t k = peel.child.size(); k-- > 0;) {
        const Int i = peel.child[k], p = peel.parent[k];
        for (int l = 0; l < K; ++l) {
            const T implied = T(peel.ratio[k] * expected[p * K + l]);
            expected[i * K + l] = std::clamp(implied, T(0.25), T(0.75));
        }
        CHECK(std::fabs(h[i] - peel.rise[k] - peel.ratio[k] * h[p]) <= 1e-12 * h[i]);
    }
    CHECK(X == expected);
    for (Int i = 0; i < s.n; ++i) CHECK(kind[i] == peeled || h[i] == 2);
}

void what_needs_no_draws_is_factorised_exactly(const Edges& edges, int threads,
                                               const Kernels* kernels) {
    const Sample s(edges, true, 0.0);
    const Options plain{1, false, false, true, false, false, 0.0, threads, kernels};
    Problem problem = problem_of(s, plain);
    const Dense inverse = inverse_of(s, 0.0);
    const std::shared_ptr<const Factor> factor = problem.factor();
    const System& M = problem.system();
    for (int lanes = 1; lanes <= max_width; ++lanes) {
        std::vector<float> Z(M.n_rows * lanes), V(M.n_rows * lanes);
        Doubles by_node(s.n * lanes, 0.0);
        for (Int at = 0; at < M.n_rows * lanes; ++at) {
            Z[at] = static_cast<float>(dice.uniform());
            by_node[problem.nodes()[at / lanes] * lanes + at % lanes] = Z[at];
        }
        Buffer<float> room;
        Vectors x{};
        x.Z = Z.data();
        x.V = V.data();
        x.width = max_width;
        x.lanes = x.stride = x.columns = lanes;
        for (int twice = 0; twice < 2; ++twice) factor->solve(x, M, *kernels, threads, room);
        for (int l = 0; l < lanes; ++l) {
            const Doubles y =
                solved(s, inverse, [&](Int i) { return s.degrees[i] * by_node[i * lanes + l]; });
            for (Int row = 0; row < M.n_rows; ++row) {
                const double expected = y[problem.nodes()[row]];
                CHECK(std::fabs(V[row * lanes + l] - expected) <= 1e-4 * (1 + expected));
            }
        }
    }
}

void the_pace_foretells_the_steps_of_a_geometric_fall() {
    Pace pace;
    for (int step = 1; step < 60; ++step) {
        const double left = pace.steps_left(std::pow(0.9, step), [] { return 1e-12; });
        const double expected = std::log(1e-12) / std::log(0.9) - step;
        CHECK(pace.steps() == static_cast<std::size_t>(step));
        if (step == 8 || step == 16 || step == 32) CHECK(std::fabs(left - expected) <= 0.01 * expected);
        else CHECK(left == 0);
    }
}

template <class T>
void answers_do_not_depend_on_the_threads(bool factor, const Kernels* kernels) {
    const Sample s(with_hub(scattered(6000, 20000)), true, 0.1);  // several chunks of rows
    Options o{5, true, false, factor, true, true, 0.0, 1, kernels};
    o.reordered = !factor;
    const Boundary boundary(s, o);
    Problem own = problem_of(s, o);
    const auto alone = solve<T>(own, boundary, o, 1);
    for (const int threads : {2, 4}) {
        o.threads = threads;
        Problem shared = problem_of(s, o);
        const auto out = solve<T>(shared, boundary, o, 1);
        CHECK(same_bits(out.X, alone.X) && same_bits(out.h, alone.h));
        CHECK(std::memcmp(&out.found, &alone.found, sizeof out.found) == 0);
    }
}

// Heat from one node alone, which is followed as it spreads, against the same next to a column whose
// heat is everywhere. Lanes have nothing to do with each other, but all nodes are lifted later.
void heat_is_followed_without_loss(const Edges& edges, bool weighted, int columns, bool reduced,
                                   int steps, const Kernels* kernels) {
    const Sample s(edges, weighted, 0.05);
    const Options o{columns, false, false, false, true, true, 0.0, 2, kernels, reduced};
    const auto first_free = std::find(s.free.begin() + s.n / 2, s.free.end(), 1) - s.free.begin();
    const Doubles scale(columns, 1.0);
    std::vector<float> seen[2];
    for (const bool everywhere : {false, true}) {
        Problem problem = problem_of(s, o);
        std::vector<std::int32_t> nodes;
        Doubles rows;
        for (Int i = 0; i < s.n; ++i) {
            if (!s.free[i] || (i != first_free && !everywhere)) continue;
            nodes.push_back(static_cast<std::int32_t>(i));
            rows.push_back(i == first_free ? s.degrees[i] : 0.0);
            for (int k = 1; k < columns; ++k) rows.push_back(everywhere ? s.degrees[i] : 0.0);
        }
        const Sources sources(s.n, problem.peel(), static_cast<Int>(nodes.size()), nodes.data(),
                              rows.data(), columns);
        std::vector<float> X(s.n * columns, 0);
        const Columns<float> all{X.data(), columns, columns};
        Descent descent(problem, columns, false, false, &sources, 0);
        descent.begin(all, scale.data());
        for (int step = 0; step < steps; ++step) {
            float levels[max_width + 1];
            descent.step(all, nullptr, levels);
        }
        descent.put_back(all, nullptr);
        for (Int i = 0; i < s.n; ++i) seen[everywhere].push_back(X[i * columns]);
    }
    for (Int i = 0; i < s.n; ++i) CHECK(std::fabs(seen[0][i] - seen[1][i]) <= 1e-4f);
}

// Products of a direction that has not got far, of the rows that it may have got to and of all.
void rows_beyond_the_front_have_no_sums(const Edges& edges, int width, const Kernels* kernels) {
    const Sample s(edges, true, 0.05);
    const Options o{width, false, false, false, true, true, 0.0, 1, kernels, true};
    const Problem problem = problem_of(s, o);
    const System& M = problem.system();
    const Int room = padded(M.n_rows);
    std::vector<float> P(room * width, 0.0f), Z = P, V[2] = {P, P};
    Z[M.n_rows / 2 * width] = 1;
    Vectors x{};
    x.P = P.data();
    x.Z = Z.data();
    x.width = x.lanes = x.stride = width;
    Front front;
    front.begin(M, x);
    CHECK(front.rows() != nullptr);
    for (int step = 0; step < 5; ++step) {
        for (Int row = 0; front.rows() && row < M.n_rows; ++row) {
            if (!front.rows()[row]) continue;
            for (int l = 0; l < width; ++l) P[row * width + l] = static_cast<float>(dice.uniform());
        }
        front.advance(M);
        Doubles dots[2];
        for (const bool all : {false, true}) {
            x.reached = all ? nullptr : front.rows();
            x.V = V[all].data();
            dots[all].assign(max_width, 0.0);
            kernels->product(M, x, 0, M.n_rows, dots[all].data());
        }
        CHECK(same_bits(V[0], V[1]) && same_bits(dots[0], dots[1]));
    }
}

// Rows whose residuals are lifted, and directions that are shifted, against a loop over numbers; and
// the sums over rows.
void all_rows_are_lifted_alike(int width, const Kernels* kernels) {
    constexpr Int n = 1000;
    const Int room = padded(n);
    std::vector<float> mass(room, 0.0f), exits(room, 0.0f), Z(room * width, 0.0f), V = Z;
    const Buffer<float> P(room * width);
    for (Int i = 0; i < n; ++i) {
        for (int l = 0; l < width; ++l) {
            Z[i * width + l] = i % 7 == 3 ? 0.0f : static_cast<float>(dice.uniform() - 0.5);
            V[i * width + l] = static_cast<float>(dice.uniform());
        }
        if (i % 7 == 3) continue;  // does not move
        mass[i] = static_cast<float>(0.1 + dice.uniform());
        exits[i] = i % 3 ? 0.0f : 0.1f * mass[i];
    }
    System M{};
    M.n_rows = n;
    M.mass = mass.data();
    M.exits = exits.data();
    Vectors x{};
    x.P = P.get();
    x.Z = Z.data();
    x.V = V.data();
    x.width = x.lanes = x.stride = x.columns = width;
    float rise[max_width] = {}, largest[max_width] = {};
    Turn turn{};
    for (int l = 0; l < width; ++l) {
        rise[l] = 0.5f * static_cast<float>(l + 1);
        turn.shift[l] = 0.25f * static_cast<float>(l + 1);
        turn.inverse_units[l] = 1;
    }
    const std::vector<float> before = Z;
    kernels->lift(M, x, rise, 0, n);
    Dots dots{};
    kernels->dot(M, x, x.Z, 0, n, dots, largest);
    const double none[max_width + 1] = {};
    double rp[max_width] = {};
    kernels->advance_f(M, x, x.Z, {nullptr, 0, 0}, nullptr, none, turn, 0, n, rp);
    Dots sums{};
    double sizes[max_width] = {}, along[max_width] = {};
    for (Int i = 0; i < n; ++i) {
        for (int l = 0; l < width; ++l) {
            const bool moves = mass[i] > 0;
            const double z = before[i * width + l] - (moves ? rise[l] * exits[i] / mass[i] : 0.0f);
            const double p = z + (moves ? turn.shift[l] : 0.0f);
            CHECK(std::fabs(Z[i * width + l] - z) <= 1e-5);
            CHECK(std::fabs(P[i * width + l] - p) <= 1e-5);
            sums.flow[l] += mass[i] * z * V[i * width + l];
            sums.heat[l] += mass[i] * z;
            sums.leaving[l] += exits[i] * z;
            along[l] += mass[i] * z * p;
            sizes[l] = std::max(sizes[l], std::fabs(z));
        }
    }
    for (int l = 0; l < width; ++l) {
        CHECK(std::fabs(dots.flow[l] - sums.flow[l]) <= 1e-2);
        CHECK(std::fabs(dots.heat[l] - sums.heat[l]) <= 1e-2);
        CHECK(std::fabs(dots.leaving[l] - sums.leaving[l]) <= 1e-3);
        CHECK(std::fabs(rp[l] - along[l]) <= 1e-2);
        CHECK(std::fabs(largest[l] - sizes[l]) <= 1e-5);
    }
}

// Plain conjugate gradients, in double: how many steps they take from r to a level.
int steps_of_plain_gradients(const System& M, Doubles r, double level, Doubles& x) {
    Doubles p(M.n_rows, 0.0), v(M.n_rows);
    const auto z = [&](Int i) { return M.mass[i] > 0 ? r[i] / M.mass[i] : 0.0; };
    x.assign(M.n_rows, 0.0);
    double before = 0;
    for (int step = 0;; ++step) {
        double now = 0, most = 0, pMp = 0;
        for (Int i = 0; i < M.n_rows; ++i) {
            now += r[i] * z(i);
            most = std::max(most, std::fabs(z(i)));
        }
        if (most <= level) return step;
        for (Int i = 0; i < M.n_rows; ++i) p[i] = z(i) + (step > 0 ? now / before * p[i] : 0.0);
        for (Int i = 0; i < M.n_rows; ++i) {
            v[i] = M.mass[i] * p[i];
            for (Int e = M.start[i]; M.mass[i] > 0 && e < M.start[i + 1]; ++e) {
                v[i] -= M.weight_unit * p[M.ends[e]];
            }
            pMp += p[i] * v[i];
        }
        for (Int i = 0; i < M.n_rows; ++i) {
            x[i] += now / pMp * p[i];
            r[i] -= now / pMp * v[i];
        }
        before = now;
    }
}

// On a graph without structure, what takes the most steps is that all nodes warm up together. That is
// no longer so.
void lifted_steps_are_fewer(bool reduced, const Kernels* kernels) {
    const Sample s(scattered(9000, 90000), false, 0.02);
    const Options o{1, false, false, false, true, true, 0.0, 1, kernels, reduced};
    const Problem problem = problem_of(s, o);
    const System& M = problem.system();
    const Graph graph = view(s.own);
    std::vector<float> X(s.n, 0.0f);
    for (Int i = 0; i < s.n; ++i) X[i] = s.fixed[i] && i % 2 ? 1.0f : 0.0f;
    Doubles r(M.n_rows, 0.0), x;
    double leaving = 0;
    for (Int row = 0; row < M.n_rows; ++row) {
        if (!(M.mass[row] > 0)) continue;
        double out = 0;
        const Int i = problem.node_of(row);
        for (Int e = graph.start[i]; e < graph.start[i + 1]; ++e) {
            if (!s.free[graph.ends[e]]) out += M.weight_unit;
            r[row] += M.weight_unit * X[graph.ends[e]];
        }
        CHECK(std::fabs(M.exits[row] - out) <= 1e-6 * out);
        leaving += out;
    }
    CHECK(std::fabs(M.all_exits - leaving) <= 1e-9 * leaving);
    const int plain = steps_of_plain_gradients(M, r, 1e-5, x);
    const Columns<float> column{X.data(), 1, 1};
    Descent descent(problem, 1, false, false);
    const double scale[] = {1.0};
    descent.begin(column, scale);
    int lifted = 0;
    for (float levels[max_width + 1] = {1}; levels[0] > 1e-5f; ++lifted) {
        descent.step(column, nullptr, levels);
    }
    CHECK(lifted + 2 <= plain);
    descent.put_back(column, nullptr);
    for (Int row = 0; row < M.n_rows; ++row) {
        if (M.mass[row] > 0) CHECK(std::fabs(X[problem.node_of(row)] - x[row]) <= 1e-3);
    }
}

// Of nodes in a row: one edge further each time, not beyond a row that does not move, and not on and
// on.
void the_front_goes_an_edge_further() {
    constexpr Int n = 1 << 16;
    std::vector<Int> start{0};
    std::vector<std::int32_t> ends;
    for (Int i = 0; i < n; ++i) {
        for (const Int j : {i - 1, i + 1}) {
            if (j >= 0 && j < n) ends.push_back(static_cast<std::int32_t>(j));
        }
        start.push_back(static_cast<Int>(ends.size()));
    }
    std::vector<float> mass(n, 1.0f), Z(2 * n, 0.0f);
    const Int middle = n / 2;
    mass[middle - 3] = 0;
    Z[2 * middle + 1] = 1;  // in its second lane
    System M{};
    M.n_rows = n;
    M.start = start.data();
    M.ends = ends.data();
    M.mass = mass.data();
    Vectors x{};
    x.Z = Z.data();
    x.stride = x.lanes = 2;
    Front front;
    CHECK(front.rows() == nullptr);
    front.begin(M, x);
    for (Int step = 0; step < 5; ++step) {
        CHECK(front.rows() != nullptr);
        for (Int i = middle - 9; i < middle + 9; ++i) {
            const bool near = i >= middle - std::min<Int>(step, 2) && i <= middle + step;
            CHECK((front.rows()[i] != 0) == near);
        }
        front.advance(M);
    }
    for (Int step = 0; step < n && front.rows(); ++step) front.advance(M);
    CHECK(front.rows() == nullptr);
    std::fill(Z.begin(), Z.end(), 1.0f);
    front.begin(M, x);
    CHECK(front.rows() == nullptr);
}

// A number that half precision has, as its bits.
std::uint16_t half_of(float x) {
    if (!(x < 0 || x > 0)) return 0;
    int exponent = 0;
    const float mantissa = std::frexp(std::fabs(x), &exponent);  // from 1/2 to 1
    const auto fraction = static_cast<int>(std::ldexp(mantissa, 11)) & 0x3ff;
    return static_cast<std::uint16_t>((x < 0) << 15 | (exponent + 14) << 10 | fraction);
}

// One product, by rows of every width, in both precisions, against a loop over the entries. `weights`:
// 0: none, 1: floats, 2: those of the graph.
void products_are_sums_over_neighbours(const Edges& edges, int width, bool halves, int weights,
                                       const Kernels* kernels) {
    const OwnGraph own = built<Int>(edges, weights > 0, 1);
    const Graph graph = view(own);
    const Int n = graph.n_nodes, room = padded(n);
    std::vector<float> floats(graph.n_entries()), mass(room, 0.0f), V(room * width, 0.0f);
    std::vector<float> P(room * width, 0.0f);
    std::vector<std::uint16_t> half_P(P.size(), 0);
    for (Int e = 0; e < graph.n_entries(); ++e) floats[e] = static_cast<float>(graph.weight(e) / 8);
    for (Int i = 0; i < n; ++i) {
        if (i % 7 == 3) continue;  // does not move
        mass[i] = static_cast<float>(1 + dice.below(8)) / 8;
        for (int l = 0; l < width; ++l) {
            P[i * width + l] = static_cast<float>(dice.below(257) - 128) / 16;
            half_P[i * width + l] = half_of(P[i * width + l]);
        }
    }
    System M{};
    M.n_rows = n;
    M.start = graph.start;
    M.ends = graph.ends;
    M.weights = weights == 1 ? floats.data() : nullptr;
    M.graph_weights = weights == 2 ? graph.weights : nullptr;
    M.weight_unit = 1.0 / 8;
    M.mass = mass.data();
    Vectors x{};
    x.P = halves ? static_cast<void*>(half_P.data()) : P.data();
    x.halves = halves;
    x.V = V.data();
    x.width = x.lanes = x.stride = width;
    double dots[max_width] = {};
    kernels->product(M, x, 0, n, dots);
    Doubles sums(width, 0.0);
    for (Int i = 0; i < n; ++i) {
        for (int l = 0; l < width; ++l) {
            double flow = 0;
            for (Int e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                flow += graph.weight(e) / 8 * P[graph.ends[e] * width + l];
            }
            const double p = P[i * width + l], v = mass[i] > 0 ? p - flow / mass[i] : 0;
            CHECK(std::fabs(V[i * width + l] - v) <= 1e-4 * (1 + std::fabs(v)));
            sums[l] += mass[i] * p * v;
        }
    }
    for (int l = 0; l < width; ++l) CHECK(std::fabs(dots[l] - sums[l]) <= 1e-3 * (1 + std::fabs(sums[l])));
}

// Directions written past the caches, for other threads to read, against those written as usual.
void directions_are_the_same_past_the_caches(int width, bool halves, const Kernels* kernels) {
    constexpr Int n = 100;
    const Int room = padded(n);
    std::vector<float> mass(room, 0.0f), Z(room * width, 0.0f), X(n * width, 0.0f);
    Turn turn{};
    double along[max_width + 1] = {};
    for (int l = 0; l < width; ++l) {
        turn.shift[l] = 0.3f * static_cast<float>(l);
        turn.beta[l] = 0.5f + 0.1f * static_cast<float>(l);
        turn.inverse_units[l] = 0.25f;
        along[l] = 0.125 * l;
    }
    for (Int i = 0; i < n; ++i) {
        mass[i] = static_cast<float>(dice.uniform());
        for (int l = 0; l < width; ++l) Z[i * width + l] = static_cast<float>(dice.uniform());
    }
    System M{};
    M.n_rows = n;
    M.mass = mass.data();
    std::vector<char> seen[2];
    Doubles dots[2];
    for (const bool shared : {false, true}) {
        const Buffer<float> P(room * width);  // aligned, as those of a descent are
        std::vector<float> into = X;
        Vectors x{};
        x.P = P.get();
        x.halves = halves;
        x.shared = shared;
        x.Z = Z.data();
        x.width = x.lanes = x.stride = x.columns = width;
        dots[shared].assign(max_width, 0.0);
        for (int twice = 0; twice < 2; ++twice) {
            kernels->advance_f(M, x, x.Z, {into.data(), width, width, true}, nullptr, along, turn, 0,
                               n, dots[shared].data());
        }
        const auto* const bytes = reinterpret_cast<const char*>(P.get());
        seen[shared].assign(bytes, bytes + n * bytes_per_row(width, halves));
        CHECK(std::any_of(into.begin(), into.end(), [](float t) { return t > 0; }) || width == 1);
    }
    CHECK(same_bits(seen[0], seen[1]));
    CHECK(same_bits(dots[0], dots[1]));
    CHECK(std::any_of(seen[0].begin(), seen[0].end(), [](char byte) { return byte != 0; }));
}

// Two nodes with many neighbours in common, one of them next to a seed: when those are gone, all edges
// between the two are one, so that they are eliminated, too.
void neighbours_joined_by_several_edges_count_once(const Kernels* kernels) {
    constexpr Int n_between = 7, a = n_between, b = n_between + 1, seed = n_between + 2;
    Edges edges{seed + 1, {}, {}, {}};
    for (Int i = 0; i < n_between; ++i) {
        edges.add(i, a);
        edges.add(i, b);
    }
    edges.add(a, seed);
    const OwnGraph own = built<Int>(edges, true, 1);
    const Graph graph = view(own);
    std::vector<std::uint8_t> free(graph.n_nodes, 1);
    free[seed] = 0;
    Doubles degrees(graph.n_nodes);
    row_sums(graph, degrees.data(), 1);
    const Problem problem(graph, free.data(), degrees.data(), nullptr, 0.0, true, true, 1, *kernels,
                          true);
    CHECK(problem.fold().size() == n_between + 2);
    CHECK(problem.system().n_rows == 0);
}

// Blocks with exit times of their own, run beside each other, against each of them alone. A long strip
// with few seeds needs so many steps that they ask for a factor.
template <class T>
void blocks_beside_each_other_are_as_alone(const Edges& edges, bool is_slow, const Kernels* kernels) {
    constexpr int n_blocks = 3, width = 5, all = n_blocks * width;
    const Sample s(edges, true, is_slow ? 0.001 : 0.1);
    const Doubles low(width, 0.0), high(width, 1.0), scale(width, 1.0);
    const double tol = sizeof(T) == 8 ? 1e-9 : is_slow ? 1e-2 : 1e-4;  // as float can
    std::vector<T> alone;
    for (const int threads : {0, 1, 2, 4}) {  // 0: one after the other
        Options o{width, true, false, false, true, true, 0.0, 1, kernels};
        o.reduced = true;
        Problem problem = problem_of(s, o);
        CHECK(problem.n_chunks() == 1);
        std::vector<T> X(s.n * all, 0);
        for (Int i = 0; i < s.n; ++i) {
            for (Int k = 0; k < all; ++k) X[i * all + k] = !s.free[i] && (i + k) % 3 == 0;
        }
        std::vector<Doubles> h(n_blocks, Doubles(s.n, 0.0));
        std::vector<ExitTimes> exits(n_blocks);
        std::vector<std::unique_ptr<Steering>> steerings;
        std::vector<Steering*> going;
        std::vector<Columns<T>> columns;
        for (int b = 0; b < n_blocks; ++b) {
            exits[b].h = h[b].data();
            steerings.push_back(std::make_unique<Steering>(
                problem, exits[b], Block{b * width, width, true, false}, nullptr, low.data(),
                high.data(), scale.data(), 100000, Preconditioner::automatic));
            going.push_back(steerings.back().get());
            columns.push_back({X.data() + b * width, all, width});
        }
        bool any_slow = false, any_short = false;
        for (int turn = 0; turn < 2; ++turn) {
            for (int b = 0; b < n_blocks; ++b) {
                const std::vector<Steering*> one{going[b]};
                const std::vector<Columns<T>> own{columns[b]};
                if (threads > 0 && b > 0) break;
                const auto states =
                    threads > 0 ? run_beside<T>(going, columns, true, {tol, 0.0, 100.0}, threads)
                                : run_beside<T>(one, own, true, {tol, 0.0, 100.0}, 1);
                for (const State state : states) {
                    CHECK(state != State::going && state != State::hopeless);
                    any_slow |= state == State::slow;
                    any_short |= state == State::short_of_digits;
                    CHECK(turn == 0 || state != State::slow);
                }
            }
            if (!any_slow) break;
            problem.factor();
        }
        CHECK(any_slow == is_slow);
        for (int b = 0; b < n_blocks; ++b) steerings[b]->settle<T>(columns[b], true);
        if (threads == 0) alone = X;
        CHECK(same_bits(X, alone));
        CHECK(sizeof(T) == 4 || !any_short);
        for (const auto& one : steerings) CHECK(any_short || one->likely() <= tol);
    }
}

// --- proving -------------------------------------------------------------------------------------

// Against the same in long double, whose own rounding is next to none. `is_known`: what h drains is
// found first.
template <class T>
void evidence_bounds_the_residual(const Sample& s, const Doubles& h, double leak, int columns,
                                  bool is_known, const Kernels* kernels) {
    std::vector<T> X;  // as large as it must be, and no larger
    for (Int at = 0; at < s.n * columns; ++at) {
        X.push_back(static_cast<T>(s.free[at / columns] || s.fixed[at / columns]
                                       ? 2 * dice.uniform() - 1
                                       : static_cast<double>(nan)));
    }
    const Graph graph = view(s.own);
    const Operator M{graph, s.free.data(), s.degrees.data(), nullptr, nullptr, 1.0, leak, false, 1.0};
    const int threads = 1 << dice.below(3);
    Doubles drains(s.n, 0.0);
    const Claim<double> of_h{graph, s.free.data(), leak, nullptr, 0, h.data(), {}, nullptr};
    find_drains(of_h, threads, kernels->prover(), drains.data());
    for (Int i = 0; i < s.n; ++i) {
        const long double drain = s.free[i] ? -inflow(M, i, [&](Int j) { return h[j]; }) : 0.0L;
        CHECK(drains[i] <= drain && drain <= drains[i] * (1 + 1e-9));
    }
    const double* const known = is_known ? drains.data() : nullptr;
    const Claim<T> claim{graph, s.free.data(), leak, X.data(), columns, h.data(), {}, known};
    const Evidence found = prove(claim, threads, kernels->prover());
    Int n_free = 0;
    for (Int i = 0; i < s.n; ++i) n_free += s.free[i];
    CHECK(found.n_nodes == n_free && !found.stray);
    for (int k = 0; k < columns; ++k) {
        long double level = 0;
        double low = infinity, high = -infinity;
        for (Int i = 0; i < s.n; ++i) {
            if (!s.free[i]) continue;
            const long double r = inflow(M, i, [&](Int j) { return X[j * columns + k]; });
            const long double drain = -inflow(M, i, [&](Int j) { return h[j]; });
            level = std::max(level, std::fabs(r) / drain);
            low = std::min(low, double(X[i * columns + k]));
            high = std::max(high, double(X[i * columns + k]));
        }
        CHECK(level <= found.level[k] && found.level[k] <= level * (1 + 1e-9));
        CHECK(found.rounding[k] <= 1e-9 * (1 + found.level[k]));
        CHECK(found.high[k] == high && found.minus_low[k] == -low);
    }
}

void test_proofs(const Edges& edges, bool weighted, double leak) {
    const Sample s(edges, weighted, 0.1);
    const Doubles h = solved(s, inverse_of(s, leak), [&](Int i) { return s.degrees[i]; });
    for (const Kernels* const kernels : all_kernels()) {
        for (int columns = 1; columns <= 20; ++columns) {
            for (const bool is_known : {false, true}) {
                evidence_bounds_the_residual<float>(s, h, leak, columns, is_known, kernels);
                evidence_bounds_the_residual<double>(s, h, leak, columns, is_known, kernels);
            }
        }
    }
}

// --- judging -------------------------------------------------------------------------------------

// Random temperatures, with seeds, ties and nodes that have none.
template <class T>
struct Court {
    std::vector<T> temperatures;
    std::vector<Int> seeds;
    Doubles node, classes[7];
    Rule rule{};

    explicit Court(int K) {
        rule.n_nodes = 20000;  // several chunks
        rule.n_classes = K;
        for (Int i = 0; i < rule.n_nodes; ++i) {
            const bool has = dice.below(10) > 0, even = dice.below(4) == 0;
            for (int k = 0; k < K; ++k) {
                temperatures.push_back(T(!has ? nan : even ? 0.5 : dice.uniform()));
            }
            seeds.push_back(dice.below(10) ? -1 : dice.below(K));
            node.push_back(has ? std::pow(10, -4 * dice.uniform()) : nan);
        }
        rule.seeds = seeds.data();
        rule.node = node.data();
        const double** const rows[] = {&rule.column, &rule.span,   &rule.shift, &rule.scale,
                                       &rule.slope,  &rule.growth, &rule.offset};
        const double most[] = {0.1, 0.02, 0.5, 2.0, 2.0, 0.01, 0.001};
        for (int r = 0; r < 7; ++r) {
            for (int k = 0; k < K; ++k) classes[r].push_back(most[r] * (1 - dice.uniform() / 2));
            *rows[r] = classes[r].data();
        }
        rule.mean_error = 0.001;
        rule.tol = 0.005;
    }
};

template <class T>
void verdicts_follow_the_rule(int K, int threads, const LeadFinder& finder) {
    const Court<T> court(K);
    const Rule& rule = court.rule;
    std::vector<Int> codes(rule.n_nodes);
    Doubles margins(rule.n_nodes);
    std::vector<std::uint8_t> certified(rule.n_nodes), status(rule.n_nodes);
    const double excess = judge(rule, court.temperatures.data(),
                                {codes.data(), margins.data(), certified.data(), status.data()},
                                threads, finder);
    double most = 0;
    for (Int i = 0; i < rule.n_nodes; ++i) {
        const T* const t = court.temperatures.data() + i * K;
        const Int own = court.seeds[i];
        if (std::isnan(t[0])) {
            CHECK(codes[i] == own && std::isnan(margins[i]) && certified[i]);
            CHECK(status[i] == (own >= 0 ? seed : no_heat));
            continue;
        }
        Doubles score(K), error(K), doubt(K);
        for (int k = 0; k < K; ++k) {
            score[k] = (t[k] - rule.shift[k]) / rule.scale[k];
            doubt[k] = std::min(rule.node[i] * rule.column[k], rule.span[k]);
            error[k] = rule.slope[k] * doubt[k] + rule.growth[k] * std::fabs(score[k]);
            error[k] += rule.offset[k];
        }
        const Int best = std::max_element(score.begin(), score.end()) - score.begin();
        const double least = score[best] - error[best];
        double margin = infinity, lead = infinity, warmest = -infinity;
        const auto possible = [&](int k) { return score[k] + error[k] >= least; };
        for (int k = 0; k < K; ++k) {
            if (possible(k)) warmest = std::max(warmest, t[k] - doubt[k]);
            if (k == best) continue;
            margin = std::min(margin, score[best] - score[k]);
            lead = std::min(lead, least - (score[k] + error[k]));
        }
        int first = 0;
        while (!(possible(first) && t[first] + doubt[first] >= warmest)) ++first;
        double accuracy = rule.mean_error;
        for (const double d : doubt) accuracy = std::max(accuracy, d);
        const bool clear = own >= 0 || lead > 0, tied = !clear && accuracy <= rule.tol;
        CHECK(certified[i] == clear && status[i] == (own >= 0 ? seed : tied ? tie : predicted));
        CHECK(codes[i] == (own >= 0 ? own : tied ? first : best));
        CHECK(margins[i] == margin || std::fabs(margins[i] - margin) < 1e-12);
        if (clear || tied) continue;
        const double to_certify = margin > 0 ? (margin - lead) / margin : infinity;
        most = std::max({most, std::min(to_certify, accuracy / rule.tol), 1 + 1e-9});
    }
    CHECK(std::fabs(excess - most) <= 1e-9 * most && (most > 1) == (K > 1));
    CHECK(judge(rule, court.temperatures.data(), {}, threads, finder) == excess);
}

template <class T>
void sums_are_over_nodes_with_a_temperature(int K, int threads) {
    const Court<T> court(K);
    const auto found = [&](int some_threads) {
        const Sums sums = sum_up(court.rule, court.temperatures.data(), some_threads);
        Doubles all = sums.temperatures;
        all.insert(all.end(), sums.errors, sums.errors + 2);
        for (const Int count : sums.counts) all.push_back(double(count));
        CHECK(sums.n_nodes == court.rule.n_nodes);
        return all;
    };
    Doubles expected(2 * K + 4);
    for (Int i = 0; i < court.rule.n_nodes; ++i) {
        if (std::isnan(court.temperatures[i * K])) continue;
        for (int among = 0; among < (court.seeds[i] < 0 ? 2 : 1); ++among) {
            for (int k = 0; k < K; ++k) expected[among * K + k] += court.temperatures[i * K + k];
            expected[2 * K + among] += court.node[i];
            expected[2 * K + 2 + among] += 1;
        }
    }
    const Doubles sums = found(threads);
    for (int k = 0; k < 2 * K + 4; ++k) CHECK(std::fabs(sums[k] - expected[k]) < 1e-8);
    CHECK(same_bits(sums, found(1)));
}

// --- threads -------------------------------------------------------------------------------------

void each_chunk_is_done_once(int threads) {
    for (const Int n_chunks : {0, 1, 3, 1000}) {
        std::vector<std::atomic<int>> done(n_chunks);
        for_chunks(threads, n_chunks, [&](Int c) { ++done[c]; });
        for (const auto& times : done) CHECK(times == 1);
    }
    std::vector<int> done(1001, 0);
    for_pieces(threads, 1001, 10, [&](Int first, Int last) {
        for (Int i = first; i < last; ++i) ++done[i];
    });
    CHECK(done == std::vector<int>(1001, 1));
}

void what_a_chunk_throws_is_thrown(int threads) {
    for (const Int bad : {0, 57, 99}) {
        CHECK(throws<std::domain_error>([&] {
            for_chunks(threads, 100, [&](Int c) {
                if (c == bad) throw std::domain_error("bad");
            });
        }));
        each_chunk_is_done_once(threads);
    }
}

void loops_may_be_nested(int threads) {
    for_chunks(threads, 8, [&](Int) {
        each_chunk_is_done_once(threads);
        what_a_chunk_throws_is_thrown(threads);
    });
}

void two_callers_may_loop_at_once(int threads) {
    const auto work = [&] {
        for (int k = 0; k < 30; ++k) each_chunk_is_done_once(threads);
    };
    std::thread other(work);
    work();
    other.join();
}

int times_asked;  // not atomic: only the calling thread may ask

void a_poll_interrupts(int threads) {
    times_asked = 0;
    set_poll([] { return ++times_asked >= 2; });
    CHECK(throws<Interrupted>([&] {
        for_chunks(threads, 1 << 20, [](Int) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
    }));
    CHECK(times_asked == 2);
    CHECK(throws<Interrupted>([] { check_interrupt(); }));
    set_poll(nullptr);
    check_interrupt();
    each_chunk_is_done_once(threads);
}

// --- leaving seeds out ---------------------------------------------------------------------------

// Temperatures of all nodes, those fixed at what they are held at.
template <class Held>
Doubles equilibrium(const Sample& s, const Dense& inverse, Held held) {
    const Graph graph = view(s.own);
    Doubles T = solved(s, inverse, [&](Int i) {
        double heat = 0;
        for (Int e = graph.start[i]; e < graph.start[i + 1]; ++e) {
            const Int j = graph.ends[e];
            if (s.fixed[j]) heat += graph.weight(e) * held(j);
        }
        return heat;
    });
    for (Int i = 0; i < s.n; ++i) {
        if (s.fixed[i]) T[i] = held(i);
    }
    return T;
}

template <class T, class U>
void a_seed_that_is_freed_is_where_it_would_be_without_its_label(const Edges& edges, bool weighted,
                                                                 double leak, int threads) {
    constexpr Int K = 3;
    Sample s(edges, weighted, 0.7);
    const Graph graph = view(s.own);
    const Dense inverse = inverse_of(s, leak);
    std::vector<Int> nodes;
    Doubles own, off_at_seeds, off(s.n, 1e-6), ones, sums;
    for (Int i = 0; i < s.n; ++i) {
        if (!s.fixed[i]) continue;
        nodes.push_back(i);
        for (Int k = 0; k < K; ++k) own.push_back(dice.uniform());
    }
    const Int m = static_cast<Int>(nodes.size());
    off_at_seeds.assign(m, 0.0);
    ones.assign(m, 1.0);
    const auto place = [&](Int i) {
        return std::lower_bound(nodes.begin(), nodes.end(), i) - nodes.begin();
    };
    std::vector<T> temperatures(s.n * K);
    std::vector<U> responses(s.n * m);
    const auto held = [&](Int k) { return [&, k](Int i) { return own[place(i) * K + k]; }; };
    Doubles totals;
    const auto sum_of = [](const Doubles& x) { return std::accumulate(x.begin(), x.end(), 0.0); };
    for (Int k = 0; k < K; ++k) {
        const Doubles found = equilibrium(s, inverse, held(k));
        totals.push_back(sum_of(found));
        for (Int i = 0; i < s.n; ++i) temperatures[i * K + k] = T(found[i]);
    }
    for (Int j = 0; j < m; ++j) {
        const Doubles found = equilibrium(s, inverse, [&](Int i) { return double(i == nodes[j]); });
        for (Int i = 0; i < s.n; ++i) responses[i * m + j] = U(found[i]);
        sums.push_back(sum_of(found));
    }
    Doubles freed(m * K), errors(m), changes(m * K), change_errors(m);
    free_each(graph, leak, {m, K, nodes.data(), own.data(), off_at_seeds.data()},
              Known<T>{temperatures.data(), off.data()},
              Responses<U>{responses.data(), off.data(), ones.data(), ones.data(), sums.data(),
                           1e-6 * s.n, s.n},
              {freed.data(), errors.data(), changes.data(), change_errors.data()}, threads);
    Int compared = 0;
    for (Int j = 0; j < m; j += 5) {
        s.fixed[nodes[j]] = 0;
        s.free = s.fixed;
        reach(graph, s.free.data(), 1);
        for (Int i = 0; i < s.n; ++i) s.free[i] = s.free[i] && !s.fixed[i];
        if (s.free[nodes[j]]) {  // it was not alone
            const Dense anew = inverse_of(s, leak);
            for (Int k = 0; k < K; ++k) {
                const Doubles found = equilibrium(s, anew, held(k));
                CHECK(std::fabs(freed[j * K + k] - found[nodes[j]]) <= errors[j]);
                const double change = sum_of(found) - totals[k];
                CHECK(std::fabs(changes[j * K + k] - change) <= change_errors[j]);
            }
            compared += errors[j] < 0.01;
        }
        s.fixed[nodes[j]] = 1;
    }
    CHECK(compared > 0);
}

// --- adding up -----------------------------------------------------------------------------------

// Against the same in long double.
template <class T>
void sums_are_as_far_off_as_they_say(Int columns, Int n_terms, int threads, const Kernels* kernels) {
    const Int n = 20000;
    std::vector<T> base, terms, X(n * columns);
    Doubles shares, exits, low(columns, 0.125), high(columns, 0.875), level(columns);
    for (Int at = 0; at < n * columns; ++at) base.push_back(static_cast<T>(dice.uniform()));
    for (Int at = 0; at < n * n_terms; ++at) terms.push_back(static_cast<T>(dice.uniform()));
    for (Int at = 0; at < n_terms * columns; ++at) shares.push_back(2 * dice.uniform() - 1);
    for (Int i = 0; i < n; ++i) exits.push_back(dice.below(4) ? 0.5 + dice.uniform() : 0.0);
    const Superposition<T> sum{n,             columns,      n_terms,    base.data(), terms.data(),
                               shares.data(), exits.data(), low.data(), high.data()};
    superpose(sum, X.data(), level.data(), threads, kernels->superposer());
    for (Int k = 0; k < columns; ++k) {
        long double most = 0;
        for (Int i = 0; i < n; ++i) {
            long double exact = base[i * columns + k];
            for (Int m = 0; m < n_terms; ++m) {
                exact += static_cast<long double>(terms[m * n + i]) * shares[m * columns + k];
            }
            const T x = X[i * columns + k];
            CHECK(x >= 0.125 && x <= 0.875);
            if (exact > 0.13 && exact < 0.87) CHECK(std::fabs(x - exact) < 1e-6);
            if (exits[i] > 0) most = std::max(most, std::fabs(x - exact) / exits[i]);
        }
        CHECK(most <= level[k] && level[k] <= most + 1e-13);
    }
}

// --- all of it -----------------------------------------------------------------------------------

void test_threads(int threads) {
    each_chunk_is_done_once(threads);
    what_a_chunk_throws_is_thrown(threads);
    loops_may_be_nested(threads);
    two_callers_may_loop_at_once(threads);
    a_poll_interrupts(threads);
}

void test_graph(const Edges& edges, int threads) {
    for (const bool weighted : {false, true}) {
        const Entries entries = entries_of(edges, weighted);
        edges_become_a_symmetric_matrix<std::int32_t>(edges, entries, weighted, threads);
        edges_become_a_symmetric_matrix<std::int64_t>(edges, entries, weighted, threads);
        ranges_of_rows_are_those_of_the_whole(edges, weighted, threads);
    }
    components_are_numbered_by_their_least_nodes(edges, threads);
    for (const Int n_marks : {Int{0}, std::min(Int{1}, edges.n_nodes), edges.n_nodes / 10}) {
        marks_reach_all_of_their_component(edges, n_marks, threads);
    }
}

template <class T>
void test_verdicts(int threads) {
    for (const int n_classes : {1, 2, 5}) {
        for (const Kernels* const kernels : all_kernels()) {
            verdicts_follow_the_rule<T>(n_classes, threads, kernels->leads());
        }
        sums_are_over_nodes_with_a_temperature<T>(n_classes, threads);
    }
}

void test_problem(const Sample& s, const Dense& inverse, double leak, const Kernels* kernels) {
    const int every = s.n > 100 ? 3 : 1;  // for the sake of time
    for (int lanes = 1; lanes <= max_width; lanes += every) {
        for (const int choice : {0, 1, 2, 3}) {
            Options o{};
            o.peeling = choice & 1;
            o.exits = choice & 2;
            o.columns = lanes - o.exits;
            // Temperatures that leak away do not add up to 1.
            o.hidden = o.exits && o.columns > 0 && leak == 0 && dice.below(2);
            o.factor = dice.below(2);
            o.root = dice.below(2);
            o.leak = leak;
            o.threads = 1 << dice.below(3);
            o.reduced = dice.below(2);
            o.reordered = !o.factor && dice.below(2);
            o.kernels = kernels;
            const auto steps_lead = dice.below(2) ? &steps_lead_to_equilibrium<float>
                                                  : &steps_lead_to_equilibrium<double>;
            steps_lead(s, inverse, o);
            heat_put_in_spreads_to_equilibrium<float>(s, inverse, o);
            heat_put_in_spreads_to_equilibrium<double>(s, inverse, o);
            o.reduced = true;
            folded_nodes_follow_from_the_others(s, inverse, o);
            what_is_left_has_the_same_equilibrium(s, inverse, o);
            o.reduced = false;
            peeled_nodes_follow_their_parents(s, inverse, o);
            settling_clips_and_fills_peeled_nodes<float>(s, o);
            settling_clips_and_fills_peeled_nodes<double>(s, o);
        }
    }
}

void test_problems(const Edges& edges, bool weighted, double leak) {
    const Sample s(edges, weighted, 0.1);
    const Dense inverse = inverse_of(s, leak);
    for (const Kernels* const kernels : all_kernels()) test_problem(s, inverse, leak, kernels);
}

}  // namespace
}  // namespace isotherm

int main() {
    using namespace isotherm;
    the_pace_foretells_the_steps_of_a_geometric_fall();
    the_front_goes_an_edge_further();
    names_are_found_in_a_table();
    for (const int threads : {1, 2, 4}) {
        test_threads(threads);
        // The largest has several chunks of edges and of rows.
        for (const Edges& edges :
             {Edges{}, Edges{5, {}, {}, {}}, scattered(6, 300), scattered(60, 70), path(2000),
              with_hub(scattered(9000, 5000)), scattered(9000, 70000)}) {
            test_graph(edges, threads);
        }
        an_end_outside_the_graph_is_refused(scattered(60, 70), threads);
        inspection_finds_what_is_wrong(threads);
        names_are_numbered_as_they_appear(threads);
        test_verdicts<float>(threads);
        test_verdicts<double>(threads);
        for (const int choice : {0, 1, 2, 3}) {
            const bool weighted = choice & 1, is_float = dice.below(2);
            const auto test_freed =
                is_float ? &a_seed_that_is_freed_is_where_it_would_be_without_its_label<float, double>
                         : &a_seed_that_is_freed_is_where_it_would_be_without_its_label<double, float>;
            test_freed(scattered(120, 250), weighted, choice & 2 ? 0.05 : 0.0, threads);
        }
        for (const Int columns : {1, 3, 10, 17}) {
            for (const Int n_terms : {0, 1, 4}) {
                for (const Kernels* const kernels : all_kernels()) {
                    sums_are_as_far_off_as_they_say<float>(columns, n_terms, threads, kernels);
                    sums_are_as_far_off_as_they_say<double>(columns, n_terms, threads, kernels);
                }
            }
        }
    }
    // More than caches have.
    const Edges far_edges = with_hub(scattered(60'000, far_bytes / 8 + 1000));
    for (const Kernels* const kernels : all_kernels()) {
        rows_have_one_fingerprint(kernels);
        faults_in_the_order_are_found_wherever_they_are(kernels);
        for (const int threads : {1, 2, 4}) {
            for (const Edges& edges : {diamonds(16), ladder(10)}) {
                what_needs_no_draws_is_factorised_exactly(edges, threads, kernels);
            }
        }
        for (const bool factor : {false, true}) {
            answers_do_not_depend_on_the_threads<float>(factor, kernels);
            answers_do_not_depend_on_the_threads<double>(factor, kernels);
        }
        for (const int columns : {1, 2, 5, 16}) {
            heat_is_followed_without_loss(strip(8000, 4), true, columns, true, 200, kernels);
            heat_is_followed_without_loss(scattered(9000, 70000), false, columns, false, 30, kernels);
        }
        for (const bool reduced : {false, true}) lifted_steps_are_fewer(reduced, kernels);
        neighbours_joined_by_several_edges_count_once(kernels);
        for (const int width : {1, 2, 4, 8, 16}) {
            rows_beyond_the_front_have_no_sums(strip(8000, 4), width, kernels);
            all_rows_are_lifted_alike(width, kernels);
            for (const bool halves : {false, true}) {
                directions_are_the_same_past_the_caches(width, halves, kernels);
            }
            if (width == 1 || width == max_width) {  // entries that are asked for ahead
                products_are_sums_over_neighbours(far_edges, width, true, 0, kernels);
            }
            const Edges edges = with_hub(scattered(400, 2000));
            for (const int weights : {0, 1, 2}) {
                products_are_sums_over_neighbours(edges, width, false, weights, kernels);
                products_are_sums_over_neighbours(edges, width, true, weights, kernels);
            }
        }
        for (const bool is_slow : {false, true}) {
            const Edges edges = is_slow ? strip(500, 12) : with_hub(scattered(2000, 6000));
            blocks_beside_each_other_are_as_alone<float>(edges, is_slow, kernels);
            blocks_beside_each_other_are_as_alone<double>(edges, is_slow, kernels);
        }
    }
    for (const int choice : {0, 1, 2, 3}) {
        const Edges nothing_free{3, {}, {}, {}};
        for (const Edges& edges : {nothing_free, path(30), tree(50, 50), scattered(60, 60),
                                   scattered(50, 150), with_hub(scattered(301, 100))}) {
            test_problems(edges, choice & 1, choice & 2 ? 0.05 : 0.0);
        }
        for (const Edges& edges :
             {nothing_free, path(30), scattered(50, 150), with_hub(scattered(301, 100))}) {
            test_proofs(edges, choice & 1, choice & 2 ? 0.05 : 0.0);
        }
    }
    std::printf("the core holds, on %zu instruction sets\n", all_kernels().size());
}
