// Conjugate gradients for M X = B, all columns of a block at once, in float.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "buffer.hpp"
#include "factor.hpp"
#include "kernels.hpp"
#include "peel.hpp"
#include "sources.hpp"

namespace isotherm {

// A Dirichlet problem made ready: the operator, what was peeled off, how rows are cut into chunks.
class Problem {
public:
    // `free` marks with 1 the free nodes that heat reaches. A node tied by a weight a, if there are
    // `ties`, has a / (1 + τ) in its degree besides its edges. The arrays must outlive the problem.
    Problem(const Graph& graph, const std::uint8_t* free, const double* degrees,
            const double* ties, double leak, bool root, bool peeling, int threads,
            const Kernels& kernels);
    Problem(const Problem&) = delete;
    Problem& operator=(const Problem&) = delete;

    const Operator& M() const { return M_; }
    const Peel& peel() const { return peel_; }
    const Kernels& kernels() const { return kernels_; }
    int threads() const { return threads_; }
    double pivot(std::int64_t i) const { return mass_[i] * M_.largest_pivot; }

    // Calls body(chunk, first, last) for chunks of rows.
    template <class Body>
    void for_rows(Body body) const;
    std::int64_t n_chunks() const { return static_cast<std::int64_t>(cuts_.size()) - 1; }

    // Residuals of X as it is, left in task.Z, and their sizes.
    template <class T>
    Levels residual(const Task<T>& task) const;

    // The same of h; Z has stride `lanes`.
    double exit_residual(const double* h, float* Z, int lanes) const;

    // The longest exit time; 0 if there is none.
    double greatest(const double* h) const;

    // Gives peeled nodes the values that their parents, and the heat that was passed on to them,
    // imply, within [low, high].
    template <class T>
    void hang(const Columns<T>& X, double* h, const double* low, const double* high,
              const Heat& passed = {}) const;

    // The same, with all of X kept within [low, high].
    template <class T>
    void settle(const Columns<T>& X, double* h, const double* low, const double* high,
                const Heat& passed = {}) const;

private:
    std::vector<std::uint8_t> kind_;
    std::vector<std::int64_t> cuts_;
    std::vector<float> mass_;
    Operator M_;
    Peel peel_;
    const Kernels& kernels_;
    int threads_;
};

class Descent {
public:
    // Lanes: `columns` of X, and that of h if `exits`. If `hidden` (with `exits` only), X has one
    // column more, which is 1 − Σ of the others and not iterated. Heat that is put in: columns of
    // `sources` from `first` on, if there are any; they must outlive the descent.
    Descent(const Problem& problem, int columns, bool exits, bool hidden,
            const Sources* sources = nullptr, int first = 0);

    // Residuals of X and h if they are 0 at moving nodes: quicker than to weigh them, since only
    // the boundary's edges are looked at. Columns are divided by their `scale`. For a start.
    template <class T>
    void begin(const Columns<T>& X, const double* scale);

    // Residuals of X and h as they are; the next step starts afresh from them, or goes on in its
    // direction if X is of doubles and there is a factor: then steps are dear, and those that find
    // good directions again would be many. Columns are divided by their `scale`. h may be rounded
    // to float, where that does no harm, so as to be fetched along with X; without h, here and in
    // the steps that follow, it stays as it is.
    template <class T>
    Levels weigh(const Columns<T>& X, double* h, const double* scale);

    // One step; X without the hidden column. `levels`, max_width + 1 of them, receives |r| / gauge
    // of each lane (or a little more, where nodes were peeled), as the recurrence has it, and in
    // the last place that of the hidden column. Infinite levels: it broke down. X and h stay as
    // they are at peeled nodes.
    template <class T>
    void step(const Columns<T>& X, double* h, float* levels);

    // Gives back the room of the directions, which the next step after a weighing takes anew.
    void rest() {
        P_and_V_ = Buffer<float>();
        stale_ = true;
    }

    // V = M P / pivots once more, for measurements.
    void multiply();

    // From the next weighing on, residuals are preconditioned by this factor.
    void precondition(std::shared_ptr<const Factor> factor) { next_factor_ = std::move(factor); }

    int lanes() const { return x_.lanes; }

private:
    template <class T>
    void pack(const Columns<T>& X, int count, double* h);
    void take_scale(const double* scale);
    void make_room();
    void restart();
    void resume();
    const float* precondition(double* dots, float* largest);
    template <class T>
    void advance(const float* from, const float* largest, const double* beta,
                 const Columns<T>& X, double* h, const double* along);

    const Problem& problem_;
    Heat given_{}, passed_{};
    Vectors x_{};
    Buffer<float> Z_, P_and_V_, Y_, room_;  // Y, room: with a factor
    std::shared_ptr<const Factor> factor_, next_factor_;
    double rp_[max_width] = {};  // Z · pivots P, as stored
    // P is stored in units of a power of 2, in which no entry is larger than 2^14, and no entry
    // is larger than its size.
    double unit_[max_width] = {}, size_[max_width] = {};
    double scale_[max_width + 1] = {};
    bool stale_ = true;  // Z is fresh, P is not
};

}  // namespace isotherm
