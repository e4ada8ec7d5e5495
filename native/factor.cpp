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

// Nodes by degree; of the least, the one that came to it last is first.
class ByDegree {
public:
    static int key_of(std::int64_t degree) {
        int key = exact;
        if (degree < exact) return static_cast<int>(std::max<std::int64_t>(degree, 0));
        for (; degree >= 2 * exact; degree /= 2) ++key;
        return key;
    }

    // A node that is put elsewhere, or taken, leaves its old places behind: is_at(v, key) tells
    // which one counts.
    void put(std::int32_t v, int key) {
        places_[key].push_back(v);
        least_ = std::min(least_, key);
    }
    template <class IsAt>
    std::int32_t pop(IsAt is_at) {
        for (;;) {
            std::vector<std::int32_t>& nodes = places_[least_];
            if (nodes.empty()) {
                ++least_;
                continue;
            }
            const std::int32_t v = nodes.back();
            nodes.pop_back();
            if (is_at(v, least_)) return v;
        }
    }

private:
    static constexpr int exact = 256, n_keys = exact + 64;
    std::vector<std::int32_t> places_[n_keys];
    int least_ = 0;
};

// Of so few neighbours all pairs are joined, which is exact: on grids that saves a third of the
// steps, and elsewhere it costs next to nothing.
constexpr std::size_t all_joined = 5;

struct Edge {
    float weight;
    std::int32_t to;
};

// The edges that elimination makes, by node, in pieces of two cache lines: following a list from one
// edge to the next, most of the time would go into waiting for memory.
class NewEdges {
public:
    static constexpr std::uint32_t none = 0xffffffff;

    // Adds to those of the node whose first piece is `head`.
    void add(std::uint32_t& head, Edge edge) {
        if (head == none || at(head).count == Piece::most) {
            const std::uint32_t piece = take();
            at(piece).next = head;
            head = piece;
        }
        Piece& piece = at(head);
        piece.edges[piece.count++] = edge;
    }

    // Calls visit(edge) for the edges of a node, which are gone then.
    template <class Visit>
    void drain(std::uint32_t& head, Visit visit) {
        while (head != none) {
            Piece& piece = at(head);
            for (std::uint32_t k = 0; k < piece.count; ++k) visit(piece.edges[k]);
            const std::uint32_t next = piece.next;
            piece.next = unused_;
            unused_ = head;
            head = next;
        }
    }

private:
    struct alignas(128) Piece {
        static constexpr std::uint32_t most = 15;
        Edge edges[most];
        std::uint32_t count, next;
    };
    static constexpr std::uint32_t per_block = 1 << 15;  // one huge page

    Piece& at(std::uint32_t piece) const {
        return blocks_[piece / per_block][piece % per_block];
    }

    std::uint32_t take() {
        if (unused_ == none) {
            if (n_pieces_ % per_block == 0) blocks_.emplace_back(per_block);
            at(n_pieces_).next = none;
            return n_pieces_++;
        }
        const std::uint32_t piece = unused_;
        unused_ = at(piece).next;
        at(piece).count = 0;
        return piece;
    }

    std::vector<Buffer<Piece>> blocks_;
    std::uint32_t n_pieces_ = 0, unused_ = none;
};

struct Neighbour {
    double weight;
    std::int32_t node;
    std::int32_t merged;  // edges that are one now
};

// A graph while its nodes are eliminated one by one, those of least degree first.
class Elimination {
public:
    Elimination(const System& M, const double* exits)
        : M_(M),
          nodes_(static_cast<std::size_t>(M.n_rows + 1)),
          ground_(static_cast<std::int32_t>(M.n_rows)) {
        for (std::int32_t v = 0; v < ground_; ++v) {
            Node& node = nodes_[v];
            node.gone = false;
            node.exit = exits[v];
            node.degree = static_cast<std::int32_t>(M.start[v + 1] - M.start[v]) + (node.exit > 0);
            queue(v);
        }
    }

    std::int32_t ground() const { return ground_; }

    // Takes out the next node; its neighbours, the lightest first, are left in `around`.
    std::int32_t take_out(std::vector<Neighbour>& around) {
        const std::int32_t v = queue_.pop([&](std::int32_t u, int key) {
            return !nodes_[u].gone && nodes_[u].key == key;
        });
        around.clear();
        const auto meet = [&](std::int32_t u, double w) {
            Node& node = nodes_[u];
            if (node.seen < 0) {
                node.seen = static_cast<std::int32_t>(around.size());
                around.push_back({w, u, 1});
            } else {
                around[node.seen].weight += w;
                ++around[node.seen].merged;
            }
        };
        Node& own = nodes_[v];
        own.gone = true;
        visit_own(v, [&](std::int32_t u, double w) {
            if (!nodes_[u].gone) meet(u, w);
        });
        made_.drain(own.made, [&](const Edge& edge) {
            if (!nodes_[edge.to].gone) meet(edge.to, edge.weight);
        });
        if (own.exit > 0) meet(ground_, own.exit);
        for (const Neighbour& a : around) {
            nodes_[a.node].seen = -1;
            nodes_[a.node].degree -= a.merged;
        }
        std::sort(around.begin(), around.end(), [](const Neighbour& a, const Neighbour& b) {
            return a.weight != b.weight ? a.weight < b.weight : a.node < b.node;
        });
        return v;
    }

    // Joins two neighbours of a node taken out. Only b gets its place by degree, which may have
    // fallen as edges merged: a may come too late for its own.
    void join(std::int32_t a, std::int32_t b, double weight) {
        if (a == ground_ || b == ground_) {
            Node& node = nodes_[a == ground_ ? b : a];
            node.degree += node.exit == 0;
            node.exit += weight;
        } else {
            made_.add(nodes_[a].made, {static_cast<float>(weight), b});
            made_.add(nodes_[b].made, {static_cast<float>(weight), a});
            ++nodes_[a].degree;
            ++nodes_[b].degree;
        }
        if (b != ground_) queue(b);
    }

private:
    // All there is to know of a node, in one place: half a cache line.
    struct alignas(32) Node {
        double exit = 0;           // weight of the edge to the ground
        std::int32_t degree = 0;   // or a little more
        std::int32_t seen = -1;    // where among the neighbours of the node just taken out
        std::uint32_t made = NewEdges::none;
        std::int16_t key = -1;     // in the queue
        bool gone = true;
    };

    void queue(std::int32_t v) {
        const int key = ByDegree::key_of(nodes_[v].degree);
        if (nodes_[v].key == key) return;
        nodes_[v].key = static_cast<std::int16_t>(key);
        queue_.put(v, key);
    }

    // The edges of the system itself, weights in units of the largest pivot.
    template <class Visit>
    void visit_own(std::int32_t v, Visit visit) const {
        for (std::int64_t e = M_.start[v]; e < M_.start[v + 1]; ++e) {
            visit(M_.ends[e], M_.weights ? double{M_.weights[e]} : M_.weight_unit);
        }
    }

    const System& M_;
    std::vector<Node> nodes_;  // the ground is the last
    std::int32_t ground_;
    ByDegree queue_;
    NewEdges made_;
};

}  // namespace

Factor::Factor(const System& M, const double* exits) {
    Elimination graph(M, exits);
    const std::int32_t ground = graph.ground(), n = ground;
    Draws draws;
    std::vector<Neighbour> around;
    std::vector<double> rest;  // rest[i]: weight of the neighbours from i on
    std::vector<std::int32_t> place(static_cast<std::size_t>(ground));
    const auto join_all = [&](double total) {
        for (std::size_t i = 0; i < around.size(); ++i) {
            for (std::size_t j = i + 1; j < around.size(); ++j) {
                graph.join(around[i].node, around[j].node,
                           around[i].weight * around[j].weight / total);
            }
        }
    };
    for (std::int32_t k = 0; k < n; ++k) {
        if (k % 4096 == 0) check_interrupt();
        const std::int32_t v = graph.take_out(around);
        const std::size_t count = around.size();
        rest.assign(count + 1, 0.0);
        for (std::size_t i = count; i-- > 0;) rest[i] = rest[i + 1] + around[i].weight;
        const double total = count ? rest[0] : 1.0;
        place[v] = k;
        order_.push_back(v);
        inverse_pivots_.push_back(static_cast<float>(1.0 / total));
        for (const Neighbour& a : around) {
            if (a.node == ground) continue;
            by_column_.ends.push_back(a.node);
            by_column_.shares.push_back(static_cast<float>(a.weight / total));
        }
        by_column_.start.push_back(static_cast<std::int64_t>(by_column_.ends.size()));
        if (count <= all_joined) {
            join_all(total);
            continue;
        }
        for (std::size_t i = 0; i + 1 < count; ++i) {
            const Neighbour& a = around[i];
            // Of the neighbours of greater weight one is drawn, in proportion to its weight: the
            // last one at which the rest is still at least the mark.
            const double mark = rest[i + 1] * (1 - draws.uniform());
            const double* low = rest.data() + i + 1;
            for (std::size_t left = count - i - 1; left > 1;) {
                const std::size_t half = left / 2;
                low = low[half] >= mark ? low + half : low;  // without a branch
                left -= half;
            }
            graph.join(a.node, around[static_cast<std::size_t>(low - rest.data())].node,
                       a.weight * rest[i + 1] / total);
        }
    }
    for (std::int32_t& end : by_column_.ends) end = place[end];
    transpose();
}

// Entries by row, increasing, and by column, decreasing: those that were found last come last, and
// are the least waited for.
void Factor::transpose() {
    const std::size_t n = order_.size();
    std::vector<std::int64_t>& start = by_row_.start;
    start.assign(n + 1, 0);
    for (const std::int32_t end : by_column_.ends) ++start[end];
    for (std::size_t k = 0; k < n; ++k) start[k + 1] += start[k];
    by_row_.ends.resize(by_column_.ends.size());
    by_row_.shares.resize(by_column_.ends.size());
    for (std::size_t k = n; k-- > 0;) {  // start[k] is the end of row k and walks back
        for (std::int64_t e = by_column_.start[k]; e < by_column_.start[k + 1]; ++e) {
            const std::int64_t at = --start[by_column_.ends[e]];
            by_row_.ends[at] = static_cast<std::int32_t>(k);
            by_row_.shares[at] = by_column_.shares[e];
        }
    }
    std::vector<std::int64_t> next(by_column_.start.begin(), by_column_.start.end() - 1);
    for (std::size_t k = n; k-- > 0;) {
        for (std::int64_t e = start[k]; e < start[k + 1]; ++e) {
            const std::int64_t at = next[by_row_.ends[e]]++;
            by_column_.ends[at] = static_cast<std::int32_t>(k);
            by_column_.shares[at] = by_row_.shares[e];
        }
    }
}

void Factor::solve(const Vectors& x, const System& M, const Kernels& kernels, int threads,
                   Buffer<float>& room) const {
    const Triangles C{static_cast<std::int64_t>(order_.size()), order_.data(), by_row_.view(),
                      by_column_.view(), inverse_pivots_.data()};
    // Substitution goes row by row, but the lanes are independent of each other.
    const int at_once = std::min(threads, x.lanes);
    const int group = width_for((x.lanes + at_once - 1) / at_once);
    const int groups = (x.lanes + group - 1) / group;
    const std::int64_t size = C.n * group;
    if (!room.get()) room = Buffer<float>(size * groups);
    for_chunks(threads, groups, [&](std::int64_t g) {
        const int lane = static_cast<int>(g) * group;
        kernels.substitute(M, x, C, lane, std::min(group, x.lanes - lane), group,
                           room.get() + g * size);
    });
}

}  // namespace isotherm
