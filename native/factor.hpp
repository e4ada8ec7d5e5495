// An approximate factorisation C ≈ M, for graphs on which plain conjugate gradients crawl.
//
// Eliminating a node joins its neighbours to each other, which fills a matrix up. Here a node with
// k neighbours, unless k is small, leaves only k − 1 edges behind, drawn at random so that their
// expectation is what exact elimination would leave (Kyng and Sachdeva, FOCS 2016; the order of
// elimination, by least degree, and the drawing by increasing weight follow Gao, Kyng and Spielman,
// 2023). The boundary and the leak are one further node, the ground, which is never eliminated.
#pragma once

#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "kernels.hpp"

namespace isotherm {

class Factor {
public:
    // Of a reduced system, with the weight of each row's edges to the ground. Deterministic: the
    // draws come from a generator of its own with a fixed seed.
    Factor(const System& M, const double* exits);

    // V = C⁻¹ (pivots Z), in units in which the largest pivot is 1. `room` is made on first use and
    // for vectors of the same shape only.
    void solve(const Vectors& x, const System& M, const Kernels& kernels, int threads,
               Buffer<float>& room) const;

    std::int64_t n_entries() const { return by_column_.start.back(); }

private:
    struct Entries {
        std::vector<std::int64_t> start{0};
        std::vector<std::int32_t> ends;
        std::vector<float> shares;

        Triangle view() const { return {start.data(), ends.data(), shares.data()}; }
    };
    void transpose();

    // See Triangles.
    std::vector<std::int32_t> order_;
    Entries by_row_, by_column_;
    std::vector<float> inverse_pivots_;
};

}  // namespace isotherm
