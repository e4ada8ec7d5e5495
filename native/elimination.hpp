// Nodes of a graph eliminated one by one, those of the fewest neighbours first: exactly as far as
// that is cheap (system.hpp), and then approximately (factor.hpp).
//
// A node v that is taken out leaves its neighbours joined to each other: u and u' by an edge of weight
// w_u w_u' / Σ w. The boundary and the leak are one further node, the ground, which is never taken
// out. Nothing is ever subtracted, so that all weights keep their digits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bad_graph.hpp"
#include "buffer.hpp"

namespace isotherm {

// Nodes by degree; of the least, the one that came to it last is first.
class ByDegree {
public:
    static constexpr int exact = 256, n_keys = exact + 64;

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
    // None of more than `most` neighbours, by their key: −1 if there is no other.
    template <class IsAt>
    std::int32_t pop(int most, IsAt is_at) {
        while (least_ < n_keys && least_ <= most) {
            std::vector<std::int32_t>& nodes = places_[least_];
            if (nodes.empty()) {
                ++least_;
                continue;
            }
            const std::int32_t v = nodes.back();
            nodes.pop_back();
            if (is_at(v, least_)) return v;
        }
        return -1;
    }

private:
    std::vector<std::int32_t> places_[n_keys];
    int least_ = 0;
};

template <class Real>
struct Edge {
    Real weight;
    std::int32_t to;
};

// The edges that elimination makes, by node, in pieces of two cache lines: following a list from one
// edge to the next, most of the time would go into waiting for memory.
template <class Real>
class NewEdges {
public:
    static constexpr std::uint32_t none = 0xffffffff;

    // Adds to those of the node whose first piece is `head`.
    void add(std::uint32_t& head, Edge<Real> edge) {
        if (head == none || at(head).count == Piece::most) {
            const std::uint32_t piece = take();
            at(piece).next = head;
            head = piece;
        }
        Piece& piece = at(head);
        piece.edges[piece.count++] = edge;
    }

    // Calls visit(edges, count) for the edges of a node, some at a time.
    template <class Visit>
    void visit(std::uint32_t head, Visit visit) const {
        for (; head != none; head = at(head).next) visit(at(head).edges, at(head).count);
    }

    // Removes the edges of a node.
    void drop(std::uint32_t& head) {
        while (head != none) {
            Piece& piece = at(head);
            const std::uint32_t next = piece.next;
            piece.next = unused_;
            unused_ = head;
            head = next;
        }
    }

private:
    struct alignas(128) Piece {
        static constexpr std::uint32_t most = 120 / sizeof(Edge<Real>);
        Edge<Real> edges[most];
        std::uint32_t count, next;
    };
    static constexpr std::uint32_t per_block = 1 << 8;

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

// The neighbours of one node. What comes behind the last of them may be written to as well: to take
// a neighbour or not is then a matter of counting, which no processor has to guess.
class Around {
public:
    Neighbour* begin() { return items_.data(); }
    Neighbour* end() { return items_.data() + count_; }
    const Neighbour* begin() const { return items_.data(); }
    const Neighbour* end() const { return items_.data() + count_; }
    std::size_t size() const { return count_; }
    const Neighbour& operator[](std::size_t k) const { return items_[k]; }

    // Room for so many more, and one beyond them.
    Neighbour* make_room(std::size_t more) {
        if (count_ + more >= items_.size()) items_.resize(2 * (count_ + more) + 8);
        return items_.data();
    }
    void keep(std::size_t count) { count_ = count; }
    void push_back(const Neighbour& one) { make_room(1)[count_++] = one; }

private:
    std::vector<Neighbour> items_;
    std::size_t count_ = 0;
};

// `Source`: n_nodes(); is_in(v), whether a node takes part; edges_of(v), the weight of its edge to the
// ground and the number of the others; and visit(v, f), which calls f(u, weight) for each of them
// and, if need be, for nodes that take no part: n_visits(v) times.
struct EdgesOf {
    double exit;
    std::int64_t count;
};
constexpr int any_number = 1 << 30;  // of neighbours
template <class Real, class Source>
class Elimination {
public:
    // Only nodes of at most so many neighbours will be taken out.
    Elimination(const Source& source, int most)
        : source_(source),
          nodes_(static_cast<std::size_t>(source.n_nodes() + 1)),
          places_(nodes_.size(), 0),
          gone_(nodes_.size(), 1),
          ground_(static_cast<std::int32_t>(source.n_nodes())),
          most_(most) {
        for (std::int32_t v = 0; v < ground_; ++v) {
            if (!source.is_in(v)) continue;
            Node& node = nodes_[v];
            gone_[v] = 0;
            const EdgesOf edges = source.edges_of(v);
            node.exit = edges.exit;
            node.degree = static_cast<std::int32_t>(edges.count) + (edges.exit > 0);
            queue(v);
        }
    }

    std::int32_t ground() const { return ground_; }
    double exit(std::int32_t v) const { return nodes_[v].exit; }
    // How many neighbours a node has, with the ground, or a little more.
    std::int32_t degree(std::int32_t v) const { return nodes_[v].degree; }

    // Takes out the next node; its neighbours are left in `around`. −1 if there is none.
    std::int32_t take_out(Around& around) {
        std::int32_t v;
        for (;;) {
            v = queue_.pop(most_ + surplus, [&](std::int32_t u, int key) {
                return !gone_[u] && nodes_[u].key == key;
            });
            if (v < 0) return v;
            look_around(v, around);
            if (static_cast<int>(around.size()) + (nodes_[v].exit > 0) <= most_) break;
            nodes_[v].key = -1;  // its turn may come again
        }
        made_.drop(nodes_[v].made);
        gone_[v] = 1;
        if (nodes_[v].exit > 0) around.push_back({nodes_[v].exit, ground_, 1});
        for (const Neighbour& a : around) nodes_[a.node].degree -= a.merged;
        return v;
    }

    // The neighbours of a node that is left, each once, without the ground: writes them and their
    // weights to where there is room for degree(v) + 1 of each. How many there are. `places` is as
    // long as there are nodes, and has anything in it.
    std::int32_t list(std::int32_t v, std::int32_t* ends, double* weights,
                      std::uint32_t* places) const {
        const auto most = static_cast<std::size_t>(degree(v));
        std::size_t count = 0;
        source_.visit(v, [&](std::int32_t u, double w) {
            if (count > most) not_symmetric();
            ends[count] = u;
            weights[count] = w;
            places[u] = static_cast<std::uint32_t>(count);
            count += !gone_[u] & (u != v);
        });
        made_.visit(nodes_[v].made, [&](const Edge<Real>* edges, std::uint32_t n_edges) {
            for (std::uint32_t k = 0; k < n_edges; ++k) {
                const std::int32_t u = edges[k].to;
                const std::size_t place = places[u];
                const bool again = place < count && ends[place] == u;
                const std::size_t at = again ? place : count;
                if (at > most) not_symmetric();
                weights[at] = (again ? weights[at] : 0.0) + edges[k].weight;
                ends[at] = u;
                places[u] = static_cast<std::uint32_t>(at);
                count += !again & !gone_[u];
            }
        });
        return static_cast<std::int32_t>(count);
    }

    // The neighbours of a node, each once, without the ground.
    void look_around(std::int32_t v, Around& around) {
        around.keep(0);
        Neighbour* found = around.make_room(static_cast<std::size_t>(source_.n_visits(v)));
        std::size_t count = 0;
        gone_[v] = 1;  // a loop leads nowhere
        source_.visit(v, [&](std::int32_t u, double w) {  // each of these edges ends elsewhere
            found[count] = {w, u, 1};
            places_[u] = static_cast<std::uint32_t>(count);
            count += !gone_[u];
        });
        around.keep(count);
        made_.visit(nodes_[v].made, [&](const Edge<Real>* edges, std::uint32_t n_edges) {
            found = around.make_room(n_edges);
            for (std::uint32_t k = 0; k < n_edges; ++k) {
                const std::int32_t u = edges[k].to;
                const std::size_t place = places_[u];
                // A place that was never given, or is of another node's neighbours, has another node.
                const bool again = place < count && found[place].node == u;
                const std::size_t at = again ? place : count;
                const Neighbour none{0, 0, 0}, before = *(again ? &found[place] : &none);
                found[at] = {before.weight + edges[k].weight, u, before.merged + 1};
                places_[u] = static_cast<std::uint32_t>(at);
                count += !again && !gone_[u];
            }
            around.keep(count);
        });
        gone_[v] = 0;
    }

    // Joins all neighbours of a node taken out to each other.
    void join_all(const Around& around, double total) {
        for (std::size_t i = 0; i < around.size(); ++i) {
            const double ratio = around[i].weight / total;
            for (std::size_t j = i + 1; j < around.size(); ++j) {
                link(around[i].node, around[j].node, ratio * around[j].weight);
            }
        }
        for (const Neighbour& a : around) {
            if (a.node != ground_) queue(a.node);
        }
    }

    // Joins two of them. Only b gets its place by degree, which may have fallen as edges merged: a
    // may come too late for its own.
    void join(std::int32_t a, std::int32_t b, double weight) {
        link(a, b, weight);
        if (b != ground_) queue(b);
    }

private:
    // Edges beyond the neighbours asked for, of a node that is looked at all the same: some of them
    // may lead to the same neighbour.
    static constexpr int surplus = 4;

    void link(std::int32_t a, std::int32_t b, double weight) {
        if (a == ground_ || b == ground_) {
            Node& node = nodes_[a == ground_ ? b : a];
            node.degree += node.exit == 0;
            node.exit += weight;
        } else {
            made_.add(nodes_[a].made, {static_cast<Real>(weight), b});
            made_.add(nodes_[b].made, {static_cast<Real>(weight), a});
            ++nodes_[a].degree;
            ++nodes_[b].degree;
        }
    }

    struct Node {
        double exit = 0;          // weight of the edge to the ground
        std::int32_t degree = 0;  // or a little more
        std::uint32_t made = NewEdges<Real>::none;
        std::int32_t key = -1;  // in the queue
    };

    void queue(std::int32_t v) {
        const int key = ByDegree::key_of(nodes_[v].degree);
        if (nodes_[v].key == key) return;
        // What has no new edges has as many neighbours as it says.
        const int most = nodes_[v].made == NewEdges<Real>::none ? most_ : most_ + surplus;
        nodes_[v].key = key <= most ? key : -1;
        if (key <= most) queue_.put(v, key);
    }

    const Source& source_;
    std::vector<Node> nodes_;            // the ground is the last
    std::vector<std::uint32_t> places_;  // of each among the neighbours last looked at with it
    std::vector<std::uint8_t> gone_;
    std::int32_t ground_;
    int most_;
    ByDegree queue_;
    NewEdges<Real> made_;
};

}  // namespace isotherm
