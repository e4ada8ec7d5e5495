// The equations that steps are made on: M x = b at the nodes that move, with those that were peeled
// off in the pivots. A System either lends the graph's own arrays, in which nodes that do not move
// have rows of mass 0, or those of a Reduced: moving nodes alone, side by side, in an order of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "kernels.hpp"

namespace isotherm {

// The graph's own rows.
System whole(const Operator& M, const float* inverse_mass, const float* units);

class Reduced {
public:
    // `whole` are the graph's own rows.
    Reduced(const Operator& M, const System& whole, int threads);
    Reduced(const Reduced&) = delete;
    Reduced& operator=(const Reduced&) = delete;

    const System& system() const { return system_; }

    // Nodes in the order of their rows; behind them those that were peeled off.
    const std::vector<std::int32_t>& nodes() const { return nodes_; }

    // Weight of a row's edges to the boundary and of what it leaks, in units of the largest pivot.
    const double* exits() const { return exits_.data(); }

private:
    System system_{};
    std::vector<std::int32_t> nodes_;
    std::vector<std::int64_t> start_;
    Buffer<std::int32_t> ends_;
    Buffer<float> weights_;
    std::vector<float> mass_, inverse_mass_, units_;
    std::vector<double> exits_;
};

}  // namespace isotherm
