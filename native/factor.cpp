#include "factor.hpp"

#include <algorithm>

#include "buffer.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

// SplitMix64 of Steele, Lea and Flood: small, fast and good enough to draw edges.
class Draws {
public:
    double uniform() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }

private:
    std::uint64_t state_ = 1;
};

// Nodes by degree; the least first.
class ByDegree {
public:
    explicit ByDegree(std::size_t n) : head_(n_keys, -1), next_(n), previous_(n), key_(n, -1) {}

    void put(std::int32_t v, std::int64_t degree) {
        const int key = key_of(degree);
        if (key_[v] == key) return;
        if (key_[v] >= 0) take(v);
        key_[v] = key;
        previous_[v] = -1;
        next_[v] = head_[key];
        if (head_[key] >= 0) previous_[head_[key]] = v;
        head_[key] = v;
        least_ = std::min(least_, key);
    }

    std::int32_t pop() {
        while (head_[least_] < 0) ++least_;
        const std::int32_t v = head_[least_];
        take(v);
        return v;
    }

private:
    static constexpr int exact = 256, n_keys = exact + 64;
    static int key_of(std::int64_t degree) {
        int key = exact;
        if (degree < exact) return static_cast<int>(std::max<std::int64_t>(degree, 0));
        for (; degree >= 2 * exact; degree /= 2) ++key;
        return key;
    }
    void take(std::int32_t v) {
        if (previous_[v] >= 0) next_[previous_[v]] = next_[v];
        else head_[key_[v]] = next_[v];
        if (next_[v] >= 0) previous_[next_[v]] = previous_[v];
        key_[v] = -1;
    }
    std::vector<std::int32_t> head_, next_, previous_;
    std::vector<int> key_;
    int least_ = 0;
};

// Edges as pairs of halves, 2k and 2k + 1; each half lies in the list of the node it leaves.
// Edges that elimination makes take the place of those it removes.
struct Edges {
    std::vector<std::int64_t> head, next, degree;
    std::vector<std::int32_t> to;
    std::vector<double> weight;  // 0: removed

    explicit Edges(std::size_t n_nodes) : head(n_nodes, -1), degree(n_nodes, 0) {}

    void link(std::int64_t half, std::int32_t from) {
        next[half] = head[from];
        head[from] = half;
        ++degree[from];
    }
    void add(std::int32_t u, std::int32_t v, double w) {
        const std::int64_t half = static_cast<std::int64_t>(to.size());
        to.insert(to.end(), {v, u});
        weight.insert(weight.end(), {w, w});
        next.insert(next.end(), {-1, -1});
        link(half, u);
        link(half + 1, v);
    }
    void remove(std::int64_t half) {
        weight[half] = weight[half ^ 1] = 0;
        --degree[to[half]];
    }
};

struct Neighbour {
    std::int32_t node;
    std::int64_t half;
    double weight;
};

// The edges among moving nodes, numbered by `node`, and to the ground.
Edges edges_of(const Operator& M, const std::vector<std::int32_t>& node) {
    const Graph& graph = M.graph;
    std::vector<std::int32_t> number(static_cast<std::size_t>(graph.n_nodes), -1);
    const auto n = static_cast<std::int32_t>(node.size());
    for (std::int32_t v = 0; v < n; ++v) number[node[v]] = v;
    Edges edges(node.size() + 1);
    for (std::int32_t v = 0; v < n; ++v) {
        const std::int64_t i = node[v];
        double exit = 0, stay = 0;
        for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
            const std::int64_t j = graph.ends[e];
            const double w = graph.weight(e) / M.largest_pivot;
            if (M.kind[j] == held) exit += w;
            if (M.kind[j] != moving) continue;
            stay += w;
            if (j > i && w > 0) edges.add(v, number[j], w);
        }
        // Peeled nodes pass heat on to the ground, too, if it leaks.
        if (M.leak > 0) exit = M.mass[i] - stay;
        if (exit > 0) edges.add(v, n, exit);
    }
    return edges;
}

}  // namespace

Factor::Factor(const Operator& M) {
    std::vector<std::int32_t> node;
    for (std::int64_t i = 0; i < M.graph.n_nodes; ++i) {
        if (M.kind[i] == moving) node.push_back(static_cast<std::int32_t>(i));
    }
    const auto n = static_cast<std::int32_t>(node.size());
    const std::int32_t ground = n;
    Edges edges = edges_of(M, node);
    ByDegree queue(node.size());
    for (std::int32_t v = 0; v < n; ++v) queue.put(v, edges.degree[v]);
    const auto requeue = [&](std::int32_t v) {
        if (v != ground) queue.put(v, edges.degree[v]);
    };

    Draws draws;
    std::vector<std::int64_t> seen(node.size() + 1, -1);  // place among the neighbours
    std::vector<Neighbour> around;
    std::vector<double> rest;  // rest[i]: weight of the neighbours from i on
    std::vector<std::int32_t> place(node.size());
    start_.assign(1, 0);
    for (std::int32_t k = 0; k < n; ++k) {
        if (k % 4096 == 0) check_interrupt();
        const std::int32_t v = queue.pop();
        around.clear();
        for (std::int64_t half = edges.head[v]; half >= 0; half = edges.next[half]) {
            if (edges.weight[half] == 0) continue;
            const std::int32_t u = edges.to[half];
            if (seen[u] >= 0) {
                around[seen[u]].weight += edges.weight[half];
                edges.remove(half);
                requeue(u);
            } else {
                seen[u] = static_cast<std::int64_t>(around.size());
                around.push_back({u, half, edges.weight[half]});
            }
        }
        for (const Neighbour& a : around) seen[a.node] = -1;
        std::sort(around.begin(), around.end(), [](const Neighbour& a, const Neighbour& b) {
            return a.weight != b.weight ? a.weight < b.weight : a.node < b.node;
        });
        const std::size_t count = around.size();
        rest.assign(count + 1, 0.0);
        for (std::size_t i = count; i-- > 0;) rest[i] = rest[i + 1] + around[i].weight;
        const double total = count ? rest[0] : 1.0;
        place[v] = k;
        order_.push_back(node[v]);
        inverse_pivots_.push_back(static_cast<float>(1.0 / total));
        for (std::size_t i = 0; i < count; ++i) {
            const Neighbour& a = around[i];
            if (a.node != ground) {
                rows_.push_back(a.node);
                shares_.push_back(static_cast<float>(a.weight / total));
            }
            if (i + 1 == count) {
                edges.remove(a.half);
                requeue(a.node);
                break;
            }
            // Of the neighbours of greater weight one is drawn, in proportion to its weight: the
            // last one at which the rest is still at least the mark.
            const double mark = rest[i + 1] * (1 - draws.uniform());
            std::size_t low = i + 1, high = count - 1;
            while (low < high) {
                const std::size_t middle = (low + high + 1) / 2;
                if (rest[middle] >= mark) low = middle;
                else high = middle - 1;
            }
            const Neighbour& b = around[low];
            const std::int64_t back = a.half ^ 1;  // lies in the list of a
            edges.to[back] = b.node;
            edges.to[a.half] = a.node;
            edges.weight[back] = edges.weight[a.half] = a.weight * rest[i + 1] / total;
            edges.link(a.half, b.node);
            requeue(b.node);
        }
        start_.push_back(static_cast<std::int64_t>(rows_.size()));
    }
    for (std::int32_t& row : rows_) row = place[row];
}

void Factor::solve(const Vectors& x, const Operator& M, const Kernels& kernels, int threads,
                   Buffer<float>& room) const {
    const Triangle triangle{static_cast<std::int64_t>(order_.size()),
                            order_.data(),
                            start_.data(),
                            rows_.data(),
                            shares_.data(),
                            inverse_pivots_.data()};
    // Substitution goes node by node, but the lanes are independent of each other.
    const int group = x.lanes > 8 ? 8 : 4, groups = (x.lanes + group - 1) / group;
    const std::int64_t size = triangle.n * group;
    if (!room.get()) room = Buffer<float>(size * groups);
    for_chunks(threads, groups, [&](std::int64_t g) {
        const int lane = static_cast<int>(g) * group;
        kernels.substitute(M, x, triangle, lane, std::min(group, x.lanes - lane), group,
                           room.get() + g * size);
    });
}

}  // namespace isotherm
