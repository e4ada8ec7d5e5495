#include "peel.hpp"

namespace isotherm {
namespace {

constexpr double least_pivot_left = 0.02;  // of a parent's own
constexpr std::int64_t hub = 64;  // looking at larger ones again for each leaf would be quadratic

// The one neighbour of i that is not peeled; −1 if there is none, or another, or a self loop.
std::int64_t only_neighbour(const Graph& graph, const std::uint8_t* kind, std::int64_t i,
                            double* weight) {
    std::int64_t found = -1;
    for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
        const std::int64_t j = graph.ends[e];
        if (kind[j] == peeled) continue;
        if (found >= 0 || j == i) return -1;
        found = j;
        *weight = graph.weight(e);
    }
    return found;
}

}  // namespace

Peel peel_trees(const Operator& M, std::uint8_t* kind, double* pivots) {
    const Graph& graph = M.graph;
    Peel peel;
    std::vector<std::int32_t> candidates;
    for (std::int64_t i = 0; i < graph.n_nodes; ++i) {
        if (kind[i] == moving && graph.start[i + 1] - graph.start[i] == 1) {
            candidates.push_back(static_cast<std::int32_t>(i));
        }
    }
    // Of M h = gauge, what peeled children passed on.
    std::vector<double> source(static_cast<std::size_t>(graph.n_nodes), 0.0);
    while (!candidates.empty()) {
        const std::int32_t i = candidates.back();
        candidates.pop_back();
        if (kind[i] != moving) continue;
        double w = 0;
        const std::int64_t p = only_neighbour(graph, kind, i, &w);
        if (p < 0 || kind[p] != moving) continue;
        const double ratio = w / pivots[i];
        const double left = pivots[p] - w * ratio;
        if (!(left >= least_pivot_left * (1 + M.leak) * M.degrees[p])) continue;
        kind[i] = peeled;
        const double b = source[i] + gauge(M, i);
        source[p] += ratio * b;
        pivots[p] = left;
        peel.child.push_back(i);
        peel.parent.push_back(static_cast<std::int32_t>(p));
        peel.ratio.push_back(ratio);
        peel.pivot.push_back(pivots[i]);
        peel.rise.push_back(b / pivots[i]);
        if (graph.start[p + 1] - graph.start[p] <= hub) {
            candidates.push_back(static_cast<std::int32_t>(p));
        }
    }
    return peel;
}

}  // namespace isotherm
