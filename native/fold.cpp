#include "fold.hpp"

#include <algorithm>

#include "elimination.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

constexpr int few_neighbours = 4;  // with the ground
// Entries of the graph for each node of so few neighbours, up to which folding pays: all of them must
// be looked at.
constexpr std::int64_t most_entries = 24;

// The moving nodes of a graph.
class Moving {
public:
    Moving(const Operator& M, const std::uint8_t* kind) : M_(M), kind_(kind) {}
    std::int64_t n_nodes() const { return M_.graph.n_nodes; }
    bool is_in(std::int64_t v) const { return kind_[v] == moving; }
    EdgesOf edges_of(std::int64_t v) const {
        EdgesOf edges{M_.ties ? M_.ties[v] : 0.0, 0};
        double all = 0;
        visit(v, [&](std::int32_t u, double w) {
            const bool leads_out = kind_[u] == held;
            edges.exit += leads_out ? w : 0.0;
            edges.count += !leads_out & (u != v);
            all += w;
        });
        edges.exit += M_.leak * all;
        return edges;
    }
    std::int64_t n_visits(std::int64_t v) const { return M_.graph.start[v + 1] - M_.graph.start[v]; }
    template <class Visit>
    void visit(std::int64_t v, Visit visit) const {
        for (std::int64_t e = M_.graph.start[v]; e < M_.graph.start[v + 1]; ++e) {
            visit(M_.graph.ends[e], M_.graph.weight(e));
        }
    }

private:
    const Operator& M_;
    const std::uint8_t* kind_;
};

}  // namespace

bool is_worth_folding(const Graph& graph, const std::uint8_t* kind) {
    std::int64_t few = 0;
    for (std::int64_t i = 0; i < graph.n_nodes; ++i) {
        few += kind[i] == moving && graph.start[i + 1] - graph.start[i] <= few_neighbours;
    }
    return few > 0 && few * most_entries >= graph.n_entries();
}

Fold fold_graph(const Operator& M, std::uint8_t* kind, double* pivots) {
    Fold fold;
    const std::int64_t n = M.graph.n_nodes;
    const Moving nodes(M, kind);
    Elimination<double, Moving> graph(nodes, few_neighbours);
    fold.received.assign(static_cast<std::size_t>(n), 0.0);
    const auto most = static_cast<std::size_t>(std::count(kind, kind + n, moving));
    fold.nodes.reserve(most);
    fold.inverse_pivots.reserve(most);
    fold.rise.reserve(most);
    fold.start.reserve(most + 1);
    fold.ends.reserve(few_neighbours * most);
    fold.ratios.reserve(few_neighbours * most);
    Around around;
    for (;;) {
        if (fold.nodes.size() % 65536 == 0) check_interrupt();
        const std::int32_t v = graph.take_out(around);
        if (v < 0) break;
        double total = 0;
        for (const Neighbour& a : around) total += a.weight;
        kind[v] = peeled;
        pivots[v] = total;
        const double b = fold.received[v] + gauge(M, v);
        fold.nodes.push_back(v);
        fold.inverse_pivots.push_back(1 / total);
        fold.rise.push_back(b / total);
        for (const Neighbour& a : around) {
            if (a.node == graph.ground()) continue;
            fold.ends.push_back(a.node);
            fold.ratios.push_back(a.weight / total);
            fold.received[a.node] += a.weight / total * b;
        }
        fold.start.push_back(static_cast<std::int64_t>(fold.ends.size()));
        graph.join_all(around, total);
    }
    fold.rest_start.assign(static_cast<std::size_t>(n) + 1, 0);
    fold.rest_exits.assign(static_cast<std::size_t>(n), 0.0);
    std::size_t left = 0;
    for (std::int32_t v = 0; v < graph.ground(); ++v) {
        if (kind[v] == moving) left += static_cast<std::size_t>(graph.degree(v));
    }
    fold.rest_ends.reserve(left);
    fold.rest_weights.reserve(left);
    for (std::int64_t i = 0; i < n; ++i) {
        if (i % 65536 == 0) check_interrupt();
        if (kind[i] == moving) {
            const auto v = static_cast<std::int32_t>(i);
            graph.look_around(v, around);
            double total = graph.exit(v);
            for (const Neighbour& a : around) {
                fold.rest_ends.push_back(a.node);
                fold.rest_weights.push_back(a.weight);
                total += a.weight;
            }
            fold.rest_exits[i] = graph.exit(v);
            pivots[i] = total;
        }
        fold.rest_start[i + 1] = static_cast<std::int64_t>(fold.rest_ends.size());
    }
    return fold;
}

}  // namespace isotherm
