// Conjugate gradients for M X = B, all columns of a block at once, in float.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "buffer.hpp"
#include "factor.hpp"
#include "kernels.hpp"
#include "peel.hpp"

namespace isotherm {

// A Dirichlet problem made ready: the operator, what was peeled off, how rows are cut into chunks.
class Problem {
public:
    // `free` marks with 1 the free nodes that heat reaches. The arrays must outlive the problem.
    Problem(const Graph& graph, const std::uint8_t* free, const double* degrees, double leak,
            bool root, bool peeling, int threads, const Kernels& kernels);
    Problem(const Problem&) = delete;
    Problem& operator=(const Problem&) = delete;

    const Operator& M() const { return M_; }
    const Peel& peel() const { return peel_; }
    const Kernels& kernels() const { return kernels_; }
    int threads() const { return threads_; }

    // Calls body(chunk, first, last) for chunks of rows.
    template <class Body>
    void for_rows(Body body) const;
    std::int64_t n_chunks() const { return static_cast<std::int64_t>(cuts_.size()) - 1; }

    // The greatest imbalances of X and of h (null: none). With Z, residuals are left there, in
    // units of the pivots and of `scale`.
    template <class T>
    Imbalance imbalance(const Columns<const T>& X, const float* h, const double* scale = nullptr,
                        float* Z = nullptr, int lanes = 0) const;

    // Keeps X within [low, high] and gives peeled nodes the values that their parents imply.
    template <class T>
    void settle(const Columns<T>& X, float* h, const double* low, const double* high) const;

private:
    std::vector<std::uint8_t> kind_;
    Buffer<double> own_pivots_;
    std::vector<std::int64_t> cuts_;
    Operator M_;
    Peel peel_;
    const Kernels& kernels_;
    int threads_;
};

class Descent {
public:
    // Lanes: `columns` of X, and that of h if `exits`.
    Descent(const Problem& problem, int columns, bool exits, bool hidden);

    // Starts, or starts again, from X and h as they are; returns their imbalance.
    template <class T>
    Imbalance restart(const Columns<T>& X, float* h, const double* scale);

    // One step. `levels`, max_width + 1 of them, receives |r| / gauge of each lane, as the
    // recurrence has it, and in the last place that of the hidden column.
    template <class T>
    void step(const Columns<T>& X, float* h, float* levels);

    // From the next restart on, residuals are preconditioned by this factor.
    void precondition(std::shared_ptr<const Factor> factor) { factor_ = std::move(factor); }

    int lanes() const { return x_.lanes; }

private:
    template <class T>
    void advance(const Columns<T>& X, float* h, const double* step, const float* beta);
    void precondition_residual(double* rz);

    const Problem& problem_;
    Vectors x_{};
    Buffer<float> P_, Z_, V_;
    std::shared_ptr<const Factor> factor_;
    double rz_[max_width] = {};
    double scale_[max_width + 1] = {};
};

}  // namespace isotherm
