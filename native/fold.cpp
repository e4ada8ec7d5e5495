#include "fold.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "elimination.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

constexpr int few_neighbours = 5;  // with the ground
// Entries of the graph for each node of so few neighbours, up to which folding pays: all of them must
// be looked at.
constexpr std::int64_t most_entries = 24;

// The moving nodes of a graph, what each has of edges to others of them, and what leads out.
class Moving {
public:
    Moving(const Operator& M, const std::uint8_t* kind)
        : M_(M), kind_(kind), edges_(static_cast<std::size_t>(M.graph.n_nodes)) {
        for (std::int64_t v = 0; v < n_nodes(); ++v) {
            edges_[v] = {M.ties ? M.ties[v] : 0.0, n_visits(v)};
            if (M.leak > 0) visit(v, [&](std::int32_t, double w) { edges_[v].exit += M.leak * w; });
        }
        // Few nodes are held, and each edge to one of them is among its own.
        for (std::int64_t v = 0; v < n_nodes(); ++v) {
            if (kind[v] != held) continue;
            visit(v, [&](std::int32_t u, double w) {
                edges_[u].exit += w;
                --edges_[u].count;
            });
        }
    }
    std::int64_t n_nodes() const { return M_.graph.n_nodes; }
    bool is_in(std::int64_t v) const { return kind_[v] == moving; }
    // A loop counts as an edge to another node.
    EdgesOf edges_of(std::int64_t v) const { return edges_[v]; }
    EdgesOf& edges_of(std::int64_t v) { return edges_[v]; }
    std::int64_t n_visits(std::int64_t v) const { return M_.graph.start[v + 1] - M_.graph.start[v]; }
    template <class Visit>
    void visit(std::int64_t v, Visit visit) const {
        for (std::int64_t e = M_.graph.start[v]; e < M_.graph.start[v + 1]; ++e) {
            visit(M_.graph.ends[e], M_.graph.weight(e));
        }
    }
    // The first neighbour of a node, or v itself if it has none.
    Neighbour neighbour_of(std::int32_t v) const {
        for (std::int64_t e = M_.graph.start[v]; e < M_.graph.start[v + 1]; ++e) {
            const std::int32_t u = M_.graph.ends[e];
            if (is_in(u) && u != v) return {M_.graph.weight(e), u, 1};
        }
        return {0.0, v, 0};
    }

private:
    const Operator& M_;
    const std::uint8_t* kind_;
    std::vector<EdgesOf> edges_;
};

// Writes down the nodes that are eliminated.
class Folding {
public:
    Folding(const Operator& M, std::uint8_t* kind, double* pivots)
        : M_(M), kind_(kind), pivots_(pivots) {
        const std::int64_t n = M.graph.n_nodes;
        fold_.received.assign(static_cast<std::size_t>(n), 0.0);
        const auto most = static_cast<std::size_t>(std::count(kind, kind + n, moving));
        fold_.nodes.reserve(most);
        fold_.inverse_pivots.reserve(most);
        fold_.rise.reserve(most);
        fold_.start.reserve(most + 1);
        fold_.ends.reserve(few_neighbours * most);
        fold_.ratios.reserve(few_neighbours * most);
    }

    // `total`: of its weights, that which leads out included.
    template <class Neighbours>
    void eliminate(std::int32_t v, const Neighbours& around, double total) {
        if (fold_.nodes.size() % 65536 == 0) check_interrupt();
        kind_[v] = peeled;
        pivots_[v] = total;
        const double inverse = 1 / total, b = fold_.received[v] + gauge(M_, v);
        fold_.nodes.push_back(v);
        fold_.inverse_pivots.push_back(inverse);
        fold_.rise.push_back(inverse * b);
        for (const Neighbour& a : around) {
            if (a.node == M_.graph.n_nodes) continue;  // the ground
            const double ratio = a.weight / total;
            fold_.ends.push_back(a.node);
            fold_.ratios.push_back(ratio);
            fold_.received[a.node] += ratio * b;
        }
        fold_.start.push_back(static_cast<std::int64_t>(fold_.ends.size()));
    }

    Fold& fold() { return fold_; }

private:
    const Operator& M_;
    std::uint8_t* const kind_;
    double* const pivots_;
    Fold fold_;
};

// Eliminates nodes of one neighbour or none, and those that become so: all trees, without a queue.
void eliminate_leaves(Moving& nodes, Folding& folding) {
    for (std::int32_t first = 0; first < nodes.n_nodes(); ++first) {
        std::int32_t v = first;
        while (v <= first && nodes.is_in(v) && nodes.edges_of(v).count <= 1) {
            const double exit = nodes.edges_of(v).exit;
            const Neighbour only = nodes.neighbour_of(v);
            if (only.node == v) {
                folding.eliminate(v, std::array<Neighbour, 0>{}, exit);
                break;
            }
            const double total = only.weight + exit;
            folding.eliminate(v, std::array<Neighbour, 1>{only}, total);
            EdgesOf& edges = nodes.edges_of(only.node);
            edges.exit += only.weight / total * exit;
            --edges.count;
            v = only.node;  // if it comes later, it will be looked at then
        }
    }
}

// Room for numbers of all nodes, for each thread that works at the same time.
class Rooms {
public:
    explicit Rooms(std::int64_t n) : n_(static_cast<std::size_t>(n)) {}
    std::vector<std::uint32_t> take() {
        const std::lock_guard<std::mutex> guard(mutex_);
        if (idle_.empty()) return std::vector<std::uint32_t>(n_);
        std::vector<std::uint32_t> room = std::move(idle_.back());
        idle_.pop_back();
        return room;
    }
    void give_back(std::vector<std::uint32_t> room) {
        const std::lock_guard<std::mutex> guard(mutex_);
        idle_.push_back(std::move(room));
    }

private:
    std::size_t n_;
    std::mutex mutex_;
    std::vector<std::vector<std::uint32_t>> idle_;
};

// The graph that is left, and its pivots.
void write_rest(const Elimination<double, Moving>& graph, const std::uint8_t* kind, double* pivots,
                int threads, Fold& fold) {
    const std::int64_t n = graph.ground();
    fold.rest_start.assign(static_cast<std::size_t>(n) + 1, 0);
    fold.rest_counts.assign(static_cast<std::size_t>(n), 0);
    fold.rest_exits.assign(static_cast<std::size_t>(n), 0.0);
    for (std::int32_t v = 0; v < n; ++v) {
        if (kind[v] == moving && graph.degree(v) < 0) not_symmetric();
        const std::int64_t room = kind[v] == moving ? graph.degree(v) + 1 : 0;
        fold.rest_start[v + 1] = fold.rest_start[v] + room;
    }
    fold.rest_ends = Buffer<std::int32_t>(fold.rest_start[n], Contents::any);
    fold.rest_weights = Buffer<double>(fold.rest_start[n], Contents::any);
    const auto cuts = cut_rows(n, [&](std::int64_t v) { return fold.rest_start[v]; });
    Rooms rooms(n);
    for_cuts(threads, cuts, [&](std::int64_t, std::int64_t first, std::int64_t last) {
        std::vector<std::uint32_t> places = rooms.take();
        for (auto v = static_cast<std::int32_t>(first); v < last; ++v) {
            if (kind[v] != moving) continue;
            std::int32_t* const ends = fold.rest_ends.get() + fold.rest_start[v];
            double* const weights = fold.rest_weights.get() + fold.rest_start[v];
            const std::int32_t count = graph.list(v, ends, weights, places.data());
            double total = fold.rest_exits[v] = graph.exit(v);
            for (std::int32_t k = 0; k < count; ++k) total += weights[k];
            fold.rest_counts[v] = count;
            pivots[v] = total;
        }
        rooms.give_back(std::move(places));
    });
}

}  // namespace

bool is_worth_folding(const Graph& graph, const std::uint8_t* kind) {
    std::int64_t few = 0;
    for (std::int64_t i = 0; i < graph.n_nodes; ++i) {
        few += kind[i] == moving && graph.start[i + 1] - graph.start[i] <= few_neighbours;
    }
    return few > 0 && few * most_entries >= graph.n_entries();
}

Fold fold_graph(const Operator& M, std::uint8_t* kind, double* pivots, int threads) {
    Moving nodes(M, kind);
    Folding folding(M, kind, pivots);
    eliminate_leaves(nodes, folding);
    Elimination<double, Moving> graph(nodes, few_neighbours);
    Around around;
    for (;;) {
        const std::int32_t v = graph.take_out(around);
        if (v < 0) break;
        double total = 0;
        for (const Neighbour& a : around) total += a.weight;
        folding.eliminate(v, around, total);
        graph.join_all(around, total);
    }
    Fold& fold = folding.fold();
    if (!fold.empty()) write_rest(graph, kind, pivots, threads, fold);
    return std::move(fold);
}

}  // namespace isotherm
