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

struct Edge {
    float weight;
    std::int32_t to;
};

// The edges that elimination makes, by node, in pieces of a cache line: following a list from one
// edge to the next, most of the time would go into waiting for memory.
class NewEdges {
public:
    explicit NewEdges(std::size_t n) : head_(n, none) {}

    void add(std::int32_t v, Edge edge) {
        if (head_[v] == none || pieces_[head_[v]].count == Piece::most) {
            const std::uint32_t piece = take();
            pieces_[piece].next = head_[v];
            head_[v] = piece;
        }
        Piece& piece = pieces_[head_[v]];
        piece.edges[piece.count++] = edge;
    }

    // Calls visit(edge) for the edges of a node, which are gone then.
    template <class Visit>
    void drain(std::int32_t v, Visit visit) {
        for (std::uint32_t p = head_[v]; p != none;) {
            Piece& piece = pieces_[p];
            for (std::uint32_t k = 0; k < piece.count; ++k) visit(piece.edges[k]);
            const std::uint32_t next = piece.next;
            piece.next = unused_;
            unused_ = p;
            p = next;
        }
        head_[v] = none;
    }

private:
    static constexpr std::uint32_t none = 0xffffffff;
    struct alignas(64) Piece {
        static constexpr std::uint32_t most = 7;
        Edge edges[most];
        std::uint32_t count = 0, next = none;
    };

    std::uint32_t take() {
        if (unused_ == none) {
            pieces_.emplace_back();
            return static_cast<std::uint32_t>(pieces_.size() - 1);
        }
        const std::uint32_t piece = unused_;
        unused_ = pieces_[piece].next;
        pieces_[piece].count = 0;
        return piece;
    }

    std::vector<Piece> pieces_;
    std::vector<std::uint32_t> head_;
    std::uint32_t unused_ = none;
};

struct Neighbour {
    double weight;
    std::int32_t node;
    std::int32_t merged;  // edges that are one now
};

// A graph while its nodes are eliminated one by one.
class Elimination {
public:
    explicit Elimination(const Operator& M) : M_(M), number_(M.graph.n_nodes, -1) {
        for (std::int64_t i = 0; i < M.graph.n_nodes; ++i) {
            if (M.kind[i] != moving) continue;
            number_[i] = static_cast<std::int32_t>(node_.size());
            node_.push_back(static_cast<std::int32_t>(i));
        }
        const std::size_t n = node_.size();
        made_ = NewEdges(n);
        exit_.assign(n, 0.0);
        degree_.assign(n, 0);
        seen_.assign(n + 1, -1);
        gone_.assign(n, false);
        for (std::size_t v = 0; v < n; ++v) {
            double stay = 0;
            visit_own(static_cast<std::int32_t>(v), [&](std::int64_t j, double w) {
                if (M.kind[j] == held) exit_[v] += w;
                if (M.kind[j] == moving) stay += w;
                degree_[v] += M.kind[j] == moving;
            });
            // Peeled nodes pass heat on to the ground, too, if it leaks.
            if (M.leak > 0) exit_[v] = std::max(M.mass[node_[v]] - stay, 0.0);
            degree_[v] += exit_[v] > 0;
        }
    }

    std::int32_t n_nodes() const { return static_cast<std::int32_t>(node_.size()); }
    std::int32_t ground() const { return n_nodes(); }
    std::int32_t node(std::int32_t v) const { return node_[v]; }
    std::int32_t degree(std::int32_t v) const { return degree_[v]; }  // or a little more

    // Takes v out; its neighbours, the lightest first, are left in `around`.
    void take_out(std::int32_t v, std::vector<Neighbour>& around) {
        around.clear();
        const auto meet = [&](std::int32_t u, double w) {
            if (seen_[u] < 0) {
                seen_[u] = static_cast<std::int32_t>(around.size());
                around.push_back({w, u, 1});
            } else {
                around[seen_[u]].weight += w;
                ++around[seen_[u]].merged;
            }
        };
        visit_own(v, [&](std::int64_t j, double w) {
            const std::int32_t u = number_[j];
            if (u >= 0 && u != v && !gone_[u]) meet(u, w);
        });
        made_.drain(v, [&](const Edge& edge) {
            if (!gone_[edge.to]) meet(edge.to, edge.weight);
        });
        if (exit_[v] > 0) meet(ground(), exit_[v]);
        gone_[v] = true;
        for (const Neighbour& a : around) {
            seen_[a.node] = -1;
            if (a.node != ground()) degree_[a.node] -= a.merged;
        }
        std::sort(around.begin(), around.end(), [](const Neighbour& a, const Neighbour& b) {
            return a.weight != b.weight ? a.weight < b.weight : a.node < b.node;
        });
    }

    void join(std::int32_t a, std::int32_t b, double weight) {
        if (a == ground() || b == ground()) {
            const std::int32_t u = a == ground() ? b : a;
            degree_[u] += exit_[u] == 0;
            exit_[u] += weight;
            return;
        }
        made_.add(a, {static_cast<float>(weight), b});
        made_.add(b, {static_cast<float>(weight), a});
        ++degree_[a];
        ++degree_[b];
    }

private:
    // The edges of the graph itself, weights in units of the largest pivot.
    template <class Visit>
    void visit_own(std::int32_t v, Visit visit) const {
        const Graph& graph = M_.graph;
        const std::int64_t i = node_[v];
        for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
            visit(graph.ends[e], graph.weight(e) / M_.largest_pivot);
        }
    }

    const Operator& M_;
    std::vector<std::int32_t> number_, node_, degree_, seen_;
    std::vector<double> exit_;  // weight of the edge to the ground
    std::vector<char> gone_;
    NewEdges made_{0};
};

}  // namespace

Factor::Factor(const Operator& M) {
    Elimination graph(M);
    const std::int32_t n = graph.n_nodes(), ground = graph.ground();
    ByDegree queue(static_cast<std::size_t>(n));
    for (std::int32_t v = 0; v < n; ++v) queue.put(v, graph.degree(v));

    Draws draws;
    std::vector<Neighbour> around;
    std::vector<double> rest;  // rest[i]: weight of the neighbours from i on
    std::vector<std::int32_t> place(static_cast<std::size_t>(n));
    start_.assign(1, 0);
    for (std::int32_t k = 0; k < n; ++k) {
        if (k % 4096 == 0) check_interrupt();
        const std::int32_t v = queue.pop();
        graph.take_out(v, around);
        const std::size_t count = around.size();
        rest.assign(count + 1, 0.0);
        for (std::size_t i = count; i-- > 0;) rest[i] = rest[i + 1] + around[i].weight;
        const double total = count ? rest[0] : 1.0;
        place[v] = k;
        order_.push_back(graph.node(v));
        inverse_pivots_.push_back(static_cast<float>(1.0 / total));
        for (std::size_t i = 0; i < count; ++i) {
            const Neighbour& a = around[i];
            if (a.node != ground) {
                rows_.push_back(a.node);
                shares_.push_back(static_cast<float>(a.weight / total));
            }
            if (i + 1 == count) break;
            // Of the neighbours of greater weight one is drawn, in proportion to its weight: the
            // last one at which the rest is still at least the mark.
            const double mark = rest[i + 1] * (1 - draws.uniform());
            std::size_t low = i + 1, high = count - 1;
            while (low < high) {
                const std::size_t middle = (low + high + 1) / 2;
                if (rest[middle] >= mark) low = middle;
                else high = middle - 1;
            }
            const std::int32_t b = around[low].node;
            graph.join(a.node, b, a.weight * rest[i + 1] / total);
            // A node may come too late for its degree, which falls as edges merge.
            if (b != ground) queue.put(b, graph.degree(b));
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
