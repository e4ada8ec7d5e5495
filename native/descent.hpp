// Conjugate gradients for M X = B, all columns of a block at once, in float. What would take the most
// steps is that all nodes are too cold, or too warm, together: steps are deflated by the vector of
// ones (A-DEF2 of Tang, Nabben, Vuik and Erlangga, Journal of Scientific Computing 39, 2009).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "buffer.hpp"
#include "factor.hpp"
#include "front.hpp"
#include "kernels.hpp"
#include "problem.hpp"
#include "sources.hpp"

namespace isotherm {

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

    // One step, of X as it was weighed and without the hidden column; of a reduced system it shows
    // once it is put back. `levels`, max_width + 1 of them, receives |r| / gauge of each lane (or a
    // little more, where nodes were peeled), as the recurrence has it, and in the last place that
    // of the hidden column. Infinite levels: it broke down. X and h stay as they are at peeled
    // nodes.
    template <class T>
    void step(const Columns<T>& X, double* h, float* levels);

    // Moves X, without the hidden column, and h to what was found, eliminated nodes included; with
    // `clip`, within [low, high] everywhere, without it only where no step builds on it.
    template <class T>
    void settle(const Columns<T>& X, double* h, const double* low, const double* high, bool clip);

    // Goes on from X and h as they are, which have been weighed; they may be of another type now.
    template <class T>
    void take(const Columns<T>& X, const double* h);

    // Writes to X and h what the steps have come to, if these were made elsewhere.
    template <class T>
    void put_back(const Columns<T>& X, double* h) const;

    // The greatest size of a temperature at a node that moves, as the steps have it.
    template <class T>
    double warmest(const Columns<T>& X) const;
    // The longest exit time of moving nodes, as the steps have it.
    double longest(const double* h) const;
    // Puts h back, eliminated nodes included; the longest exit time of all.
    double complete_exits(double* h) const;

    // Whether the system is still the one that X was weighed in.
    bool is_up_to_date() const { return system_ && version_ == problem_.version(); }

    // Goes on in a system whose rows have another order, given the row that each was before.
    void follow(const std::vector<std::int32_t>& before);

    // Gives back the room of the directions and of residuals, which the next weighing takes anew;
    // the latter only if X is where it should be, not in the order of a reduced system.
    void rest() {
        P_and_V_ = Buffer<float>();
        stale_ = true;
        if (problem_.is_reduced()) return;
        Z_ = Buffer<float>();
        system_ = nullptr;
    }

    // V = M P / pivots once more, for measurements.
    void multiply();

    // From the next weighing on, residuals are preconditioned by this factor.
    void precondition(std::shared_ptr<const Factor> factor) { next_factor_ = std::move(factor); }

    int lanes() const { return x_.lanes; }
    int width() const { return x_.width; }  // of its rows

private:
    template <class T>
    Buffer<float> packed(const Columns<T>& X, int count, double* h) const;
    template <class T>
    Columns<T> own_or(const Columns<T>& X) const;
    template <class T>
    void clear_own(bool exits);
    template <class T>
    void pass_heat_on(const Columns<T>& X);
    void enter(const double* scale);
    void make_room();
    void restart(double* rise);
    void resume();
    const float* precondition(Dots& dots, float* largest, bool has_V);
    // All nodes rise as soon as heat may be anywhere. With a factor nothing is gained.
    bool is_to_be_lifted() const {
        return !is_lifted_ && !factor_ && !front_.rows() && system_->all_exits > 0;
    }
    void lift(const Dots& dots, double* rise);
    template <class T>
    void advance(const float* from, const float* largest, const Dots& dots, const double* beta,
                 const Columns<T>& X, double* h, const double* along, const double* rise);

    const Problem& problem_;
    const System* system_ = nullptr;
    int version_ = 0;  // of it
    Heat given_{}, passed_{};
    // Of a folded system: the heat that each node gets from the boundary, from sources and from nodes
    // folded before it; x_.columns numbers for each.
    std::vector<double> heat_;
    Vectors x_{};
    Buffer<float> Z_, P_and_V_, Y_, room_;  // Y, room: with a factor
    // X and h of a reduced system, in rows of x_.width; of floats or of doubles, as X is.
    Buffer<float> floats_;
    Buffer<double> doubles_, exits_;
    std::shared_ptr<const Factor> factor_, next_factor_;
    Front front_;  // of heat that began at a few nodes
    double rp_[max_width] = {};  // Z · pivots P, as stored
    // P is stored in units of a power of 2, in which no entry is larger than 2^14, and no entry
    // is larger than its size.
    double unit_[max_width] = {}, size_[max_width] = {};
    double scale_[max_width + 1] = {};
    bool stale_ = true;  // Z is fresh, P is not
    bool is_lifted_ = false;
};

}  // namespace isotherm
