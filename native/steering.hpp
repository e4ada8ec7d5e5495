// How a block of columns is solved: steps, fresh residuals, a factor where steps would be many, and
// when to stop. All of it goes by what the recurrence says; what is proven is found elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "descent.hpp"
#include "problem.hpp"
#include "sources.hpp"

namespace isotherm {

// h of the certificate: an approximate solution of M h = gauge, and how good it is. Blocks of a
// problem share it, unless they run beside each other before it is known.
struct ExitTimes {
    double* h = nullptr;
    double lack = 1.0;     // η, the greatest |gauge − M h| / gauge
    double longest = 0.0;  // the greatest entry of h
    bool done = false;     // whether it need not get any better
};

// How fast levels fall, from the best seen so far.
class Pace {
public:
    // Steps since the level or η was last halved.
    std::int64_t since_progress(double level, double eta);

    // Steps still to come, by the pace of the later half; 0 unless it is time to ask, at steps 8,
    // 16, 32, …
    double steps_left(double level, const std::function<double()>& target_of);
    // How often that was asked: once a step.
    std::size_t steps() const { return best_.size(); }

private:
    std::vector<double> best_;
    std::size_t review_ = 8;
    double least_level_ = 1.0 / 0.0, least_eta_ = 1.0 / 0.0;
    std::int64_t idle_ = 0;
};

enum class Preconditioner { diagonal, factor, automatic };

// Columns that are solved together. With `exits`, those of h along with them; with `hidden`, one
// further column that follows from the others, since all add up to 1.
struct Block {
    int first, columns;
    bool exits, hidden;

    int width() const { return columns + hidden; }
};

enum class State {
    going,            // time is up, or a look is due
    slow,             // beside others: a factor would pay, which only one that is alone may make
    reached,          // the error is likely to be small enough, or the steps are used up
    short_of_digits,  // floats hold no more, or residuals are all rounding
    hopeless,         // there will be no progress
};

struct Aim {
    double tol;
    double look_at;  // likely error at which to return in between
    double seconds;  // and the time after which to do so anyway
    bool proven = true;   // what is found will be: it must not be farther off than it seems
    bool beside = false;  // others run at the same time: what all share must not change
};

class Steering {
public:
    // `low`, `high` and `scale` of each column of the block; columns are iterated in units of their
    // scale. The problem, the exit times and the sources must outlive it.
    Steering(Problem& problem, ExitTimes& exits, const Block& block, const Sources* sources,
             const double* low, const double* high, const double* scale, std::int64_t max_steps,
             Preconditioner preconditioner);

    // Makes what all of a problem share, if this one needs it. Never while another one runs.
    void prepare();

    // Improves X, the columns of the block, until there is reason to return. `cold`: to begin with,
    // X and h are 0 at moving nodes, and peeled ones need not be looked at.
    template <class T>
    State run(const Columns<T>& X, bool cold, const Aim& aim);

    // Writes to X and h what was found, peeled nodes included and, with `clip`, within the bounds;
    // without it, steps may go on.
    template <class T>
    void settle(const Columns<T>& X, bool clip);

    // Makes so many steps from a cold start, whatever comes of them; for measurements.
    template <class T>
    void make_steps(const Columns<T>& X, int steps);

    // Residuals are no longer those of X: others have changed it.
    void forget() { fresh_ = paused_ = false; }
    void rest() {
        forget();
        descent_.rest();
    }

    std::int64_t steps() const { return max_steps_ - steps_left_; }
    double likely() const;                          // error
    const double* levels() const { return levels_; }  // of each column

    Descent& descent() { return descent_; }

private:
    template <class T>
    State go(const Columns<T>& X, bool cold, const Aim& aim);
    template <class T>
    void weigh(const Columns<T>& X);
    template <class T>
    bool weigh_again(const Columns<T>& X);
    template <class T>
    Columns<T> without_hidden(const Columns<T>& X) const {
        return {X.first, X.stride, block_.columns, X.full_rows};
    }
    template <class T>
    double reach() const;
    template <class T>
    double drift() const;
    double level() const;
    bool is_slow(double steps_to_come) const;
    double target(double tol) const;
    void read(const float* levels);
    bool is_near(double tol);
    double* exits() const { return block_.exits && !exits_.done ? exits_.h : nullptr; }

    Problem& problem_;
    ExitTimes& exits_;
    Block block_;
    Descent descent_;
    std::int64_t max_steps_, steps_left_;
    Preconditioner preconditioner_;
    double low_[max_width], high_[max_width], scale_[max_width], levels_[max_width];
    bool bounded_ = true;  // whether it is known how warm the columns can get
    double least_;          // of fresh residuals: less is rounding
    double largest_scale_;
    double too_many_;       // steps for which a factor pays
    bool begun_ = false;
    bool fresh_ = false;    // whether residuals are of X as it is
    bool paused_ = false;   // between two steps
    Pace pace_;
    double reach_ = 0, drift_ = 0;
    double largest_unit_ = 1;  // of a pivot, in its gauge
    std::int64_t steps_since_fresh_ = 0;
    double weighed_ = 0;  // the level when residuals were last fresh
    double farther_ = 0;  // the longest exit time of all, in that of moving nodes; once it is known
};

// Runs several at the same time, each on columns of its own, until they end or the time is up; those
// that it did not come to are going, too. What is found does not depend on the threads.
template <class T>
std::vector<State> run_beside(const std::vector<Steering*>& steerings,
                              const std::vector<Columns<T>>& columns, bool cold, Aim aim,
                              int threads);

}  // namespace isotherm
