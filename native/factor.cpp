#include "factor.hpp"

#include <algorithm>
#include <cstring>

#include "buffer.hpp"
#include "elimination.hpp"
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

// Of so few neighbours all pairs are joined, which is exact: on grids that saves a third of the
// steps, and elsewhere it costs next to nothing.
constexpr std::size_t all_joined = 5;

// Weights in their order; what is no number has a place in it, too, as sorting must have.
std::uint64_t bits_of(double weight) {
    std::uint64_t bits;
    std::memcpy(&bits, &weight, sizeof bits);
    return bits;
}

// The rows of a system, all of which take part.
class Rows {
public:
    Rows(const System& M, const double* exits) : M_(M), exits_(exits) {}
    std::int64_t n_nodes() const { return M_.n_rows; }
    bool is_in(std::int64_t) const { return true; }
    EdgesOf edges_of(std::int64_t v) const { return {exits_[v], M_.start[v + 1] - M_.start[v]}; }
    std::int64_t n_visits(std::int64_t v) const { return M_.start[v + 1] - M_.start[v]; }
    template <class Visit>
    void visit(std::int64_t v, Visit visit) const {
        for (std::int64_t e = M_.start[v]; e < M_.start[v + 1]; ++e) {
            visit(M_.ends[e], M_.weights ? double{M_.weights[e]} : M_.weight_unit);
        }
    }

private:
    const System& M_;
    const double* exits_;
};

}  // namespace

Factor::Factor(const System& M, const double* exits) {
    const Rows rows(M, exits);
    Elimination<float, Rows> graph(rows, any_number);
    const std::int32_t ground = graph.ground(), n = ground;
    Draws draws;
    Around around;
    std::vector<double> rest;  // rest[i]: weight of the neighbours from i on
    std::vector<std::int32_t> place(static_cast<std::size_t>(ground));
    for (std::int32_t k = 0; k < n; ++k) {
        if (k % 4096 == 0) check_interrupt();
        const std::int32_t v = graph.take_out(around);
        if (v < 0) not_symmetric();
        std::sort(around.begin(), around.end(), [](const Neighbour& a, const Neighbour& b) {
            const auto x = bits_of(a.weight), y = bits_of(b.weight);
            return x != y ? x < y : a.node < b.node;
        });
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
            graph.join_all(around, total);
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
