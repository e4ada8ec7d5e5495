// The equations that steps are made on: M x = b at the nodes that move, with those that were peeled
// off in the pivots. A System either lends the graph's own arrays, in which nodes that do not move
// have rows of mass 0, or those of a Reduced: moving nodes alone, side by side, in an order of its
// own, those of few neighbours folded away.
#pragma once

#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "fold.hpp"
#include "kernels.hpp"

namespace isotherm {

// The graph's own rows.
System whole(const Operator& M);

// For each node that moves, the weight of its edges to the boundary and of what it leaks.
std::vector<double> exits_of_nodes(const Operator& M, int threads);

class Reduced {
public:
    // `whole` are the graph's own rows.
    Reduced(const Operator& M, const System& whole, Fold fold, int threads);
    Reduced(const Reduced&) = delete;
    Reduced& operator=(const Reduced&) = delete;

    const System& system() const { return system_; }

    // Nodes in the order of their rows, and the row of each node, −1 without one.
    const std::vector<std::int32_t>& nodes() const { return nodes_; }
    const std::vector<std::int32_t>& row_of() const { return row_of_; }
    const Fold& fold() const { return fold_; }

    // Puts rows in the order in which they are found from each other, breadth first: neighbours come
    // to be near each other, and so in the same cache. The row that each was before.
    std::vector<std::int32_t> reorder(int threads);

    // Weights of the rows' edges to the boundary and of what they leak, in units of the largest
    // pivot.
    std::vector<double> exits(const Operator& M, int threads) const;

private:
    void fill(const Operator& M, const Graph& graph, int threads);
    void lend();

    System system_{};
    Fold fold_;
    std::vector<std::int32_t> nodes_, row_of_;
    std::vector<std::int64_t> start_;
    Buffer<std::int32_t> ends_;
    Buffer<float> weights_;
    std::vector<float> mass_, exits_, units_;
};

}  // namespace isotherm
