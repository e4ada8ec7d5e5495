#include "steering.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace isotherm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double aim_at = 0.95;          // of the tolerance: a proof says a little more than the steps
constexpr double drift_of_floats = 0x1p-20;  // of the recurrence, from the largest level since a fresh one
constexpr double rounding_of_floats = 0x1p-26;  // of an X of floats by a step, mostly, in its scale
constexpr double float_reach = 1e-6;     // how far a level falls before rounding is all that is left
constexpr double factor_reach = 1e-3;    // the same with a factor, before rounding spoils directions
constexpr double rounding = 0x1p-50;     // of residuals in double, in units of the temperatures
constexpr double good_eta = 0.5;         // of exit times with which temperatures are worth proving
constexpr double final_eta = 0.1;        // and with which they need not get better
constexpr double steps_worth_an_order = 16;  // that are still to come
constexpr std::size_t steps_before_a_factor = 16;  // which costs more than an order
constexpr std::int64_t stalled = 300;    // steps without progress, with a factor

// Plain steps for which a factor and the few steps it takes could be had. All is in units of what
// the factor costs per entry, as measured on one thread: what is decided must not depend on how
// many there are.
double steps_worth_a_factor(const System& M, int lanes) {
    constexpr double few_steps = 25;
    const double width = width_for(lanes), substitution = 0.02 + 0.002 * width;
    const double per_entry = 0.003 + 0.00015 * width, per_row = 0.017 + 0.004 * width;
    const auto rows = static_cast<double>(std::max<std::int64_t>(1, M.n_rows));
    const auto entries = static_cast<double>(M.start[M.n_rows]);
    const double step = per_entry * entries + per_row * rows;
    return few_steps + (1 + few_steps * substitution) * entries / step;
}

}  // namespace

std::int64_t Pace::since_progress(double level, double eta) {
    ++idle_;
    if (level <= least_level_ / 2 || eta <= least_eta_ / 2) {
        least_level_ = std::min(level, least_level_);
        least_eta_ = std::min(eta, least_eta_);
        idle_ = 0;
    }
    return idle_;
}

double Pace::steps_left(double level, const std::function<double()>& target_of) {
    best_.push_back(best_.empty() ? level : std::min(best_.back(), level));
    const std::size_t taken = best_.size();
    if (taken < review_) return 0;
    review_ *= 2;
    const double best = best_.back(), target = target_of();
    if (!(0 < target && target < best)) return 0;
    const double gained = std::log(best_[taken / 2 - 1] / best);
    return std::log(best / target) / std::max(gained, 1e-9) *
           static_cast<double>(taken - taken / 2);
}

Steering::Steering(Problem& problem, ExitTimes& exits, const Block& block, const Sources* sources,
                   const double* low, const double* high, const double* scale,
                   std::int64_t max_steps, Preconditioner preconditioner)
    : problem_(problem),
      exits_(exits),
      block_(block),
      descent_(problem, block.columns, block.exits, block.hidden, sources, block.first),
      max_steps_(max_steps),
      steps_left_(max_steps),
      preconditioner_(preconditioner) {
    const int width = block.width();
    std::copy(low, low + width, low_);
    std::copy(high, high + width, high_);
    std::copy(scale, scale + width, scale_);
    std::fill(levels_, levels_ + max_width, 0.0);
    std::fill(levels_, levels_ + width, infinity);
    least_ = largest_scale_ = 0;
    for (int k = 0; k < width; ++k) {
        largest_scale_ = std::max(largest_scale_, scale[k]);
        least_ = std::max({least_, rounding * std::fabs(low[k]), rounding * scale[k]});
        bounded_ &= std::isfinite(high[k] - low[k]);
    }
    const System& M = problem.system();
    too_many_ = steps_worth_a_factor(M, block.columns + block.exits);
    // The greatest mass is 1.
    largest_unit_ = M.units ? *std::max_element(M.units, M.units + M.n_rows) : M.unit;
}

// How far levels may be from what the recurrence says: residuals are rounded in units of the largest
// there was, and so is X at each step, if it is of floats; that may or may not add up.
template <class T>
double Steering::drift() const {
    if (sizeof(T) == 8) return drift_;
    const auto steps = static_cast<double>(steps_since_fresh_);
    return drift_ + rounding_of_floats * std::sqrt(steps) * largest_scale_ * largest_unit_;
}

double Steering::level() const {
    double most = 0;
    for (int k = 0; k < block_.width(); ++k) {
        if (most == most && !(levels_[k] <= most)) most = levels_[k];  // NaN stays one
    }
    return most;
}

double Steering::likely() const {
    if (!(exits_.lack < good_eta)) return infinity;
    return level() * exits_.longest / (1 - exits_.lack);
}

// The level at which the error is likely to be small enough.
double Steering::target(double tol) const {
    const double longest =  // as far as it is known
        exits_.longest > 0 || !exits() ? exits_.longest : descent_.longest(exits_.h);
    return aim_at * tol / std::max(longest, 1.0) * (1 - std::min(exits_.lack, good_eta));
}

// The level below which float gets no farther without a fresh residual, or without an X of more
// digits: residuals are rounded in units of where they began, temperatures in those of the boundary.
template <class T>
double Steering::reach() const {
    if (sizeof(T) == 4 || !std::isfinite(level())) return float_reach * largest_scale_;
    return (problem_.is_factorised() ? factor_reach : float_reach) * level();
}

template <class T>
void Steering::settle(const Columns<T>& X, bool clip) {
    double* const h = exits();
    descent_.settle(without_hidden(X), h, low_, high_, clip);
    if (h && clip && exits_.lack < final_eta / 2) {
        // Good enough: later solves need not carry them along.
        exits_.longest = problem_.greatest(h);
        exits_.done = true;
    }
    if (!block_.hidden) return;
    const int last = block_.columns;
    const auto low = static_cast<T>(low_[last]), high = static_cast<T>(high_[last]);
    problem_.for_nodes([&](std::int64_t, std::int64_t first, std::int64_t end) {
        for (std::int64_t i = first; i < end; ++i) {
            if (problem_.M().kind[i] == held) continue;
            T* const values = X.first + i * X.stride;
            T sum = 0;
            for (int k = 0; k < last; ++k) sum += values[k];
            values[last] = std::clamp(1 - sum, low, high);
        }
    });
}

// Residuals of the block, once it is settled; the next step starts afresh from them.
template <class T>
void Steering::weigh(const Columns<T>& X) {
    settle(X, true);
    double* const h = exits();
    const Levels found = descent_.weigh<T>(X, h, scale_);
    std::copy(found.columns, found.columns + block_.width(), levels_);
    begun_ = true;
    fresh_ = std::isfinite(level());  // else X will be put elsewhere
    if (!h) return;
    exits_.lack = found.exits;
    exits_.longest = problem_.greatest(h);
    exits_.done = found.exits < final_eta;
}

// The same amid steps: whether they have led anywhere, or all is rounding.
template <class T>
bool Steering::weigh_again(const Columns<T>& X) {
    weigh(X);
    drift_ = 0;
    steps_since_fresh_ = 0;
    const bool fell = !(level() > weighed_ / 2);
    weighed_ = level();
    return fell;
}

// Takes over what a step says: levels of the columns, of h, and of the hidden column.
void Steering::read(const float* levels) {
    for (int k = 0; k < block_.columns; ++k) levels_[k] = levels[k] * scale_[k];
    if (block_.hidden) levels_[block_.columns] = levels[max_width];
    if (exits()) exits_.lack = levels[block_.columns];
}

bool Steering::is_near(double tol) {
    // The longest exit time is looked for only where it matters.
    constexpr double nearly = 4;
    if (exits() && exits_.lack < good_eta && !(likely() > nearly * aim_at * tol)) {
        const double longest = descent_.longest(exits_.h);
        // Eliminated nodes may take longer. By how much hardly changes any more.
        if (farther_ == 0) {
            farther_ = std::max(1.0, descent_.complete_exits(exits_.h) / std::max(longest, 1e-300));
        }
        exits_.longest = longest > 0 ? longest * farther_ : problem_.greatest(exits_.h);
    }
    return likely() <= aim_at * tol;
}

// Whether so many more steps are reason for a factor. The longer it has taken already, the less is
// believed of what the pace foretells: early steps are the quickest.
bool Steering::is_slow(double steps_to_come) const {
    const auto taken = static_cast<double>(steps());
    return steps_to_come > too_many_ / 4 && steps_to_come + taken > too_many_;
}

void Steering::prepare() {
    if (preconditioner_ == Preconditioner::factor) problem_.factor();
}

template <class T>
State Steering::run(const Columns<T>& X, bool cold, const Aim& aim) {
    const State state = go(X, cold, aim);
    if (state == State::going) return state;
    descent_.put_back(without_hidden(X), exits());
    return state;
}

template <class T>
State Steering::go(const Columns<T>& X, bool cold, const Aim& aim) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::duration<double>(aim.seconds);
    const Columns<T> iterated = without_hidden(X);
    if (preconditioner_ == Preconditioner::factor || problem_.is_factorised()) {
        descent_.precondition(problem_.factor());
    }
    if (!paused_ || !descent_.is_up_to_date()) {
        if (cold && !begun_) {  // only the boundary is warm: that is quicker found than weighed
            descent_.begin(iterated, scale_);
            begun_ = true;
        } else if (!fresh_ || !descent_.is_up_to_date()) {
            weigh(X);
        } else {
            descent_.take(iterated, exits());
        }
        pace_ = Pace();
        reach_ = reach<T>();
        drift_ = farther_ = 0;
        steps_since_fresh_ = 0;
        weighed_ = infinity;
    }
    paused_ = false;
    // But for rounding, there are no more steps than rows.
    const std::int64_t rows = problem_.system().n_rows;
    constexpr bool floats = sizeof(T) == 4;
    while (steps_left_ > 0) {
        if (is_near(aim.tol)) {
            // Is it so near that the recurrence cannot be believed? A further step is sooner made
            // than a fresh residual; where that would not do, better to know than to fail to prove
            // it. Floats that need no proof are good for no more digits.
            const double unsure = drift<T>() * exits_.longest / (1 - exits_.lack);
            if (fresh_ || (floats && !aim.proven) || likely() + unsure <= aim.tol) break;
            if (unsure > aim.tol / 2) {
                if (!weigh_again(X)) return State::short_of_digits;
                continue;
            }
        }
        float levels[max_width + 1];
        --steps_left_;
        ++steps_since_fresh_;
        fresh_ = false;
        descent_.step(iterated, exits(), levels);
        read(levels);
        const double now = level();
        if (!std::isfinite(now)) return State::hopeless;  // weights beyond the range of float
        drift_ = std::max(drift_, drift_of_floats * now);
        const std::int64_t patience = stalled + (problem_.is_factorised() ? 0 : 2 * rows);
        // Weights so far apart that rounding undoes each step.
        if (pace_.since_progress(now, exits_.lack) > patience) return State::hopeless;
        const bool plain = preconditioner_ == Preconditioner::automatic && !problem_.is_factorised();
        if (floats && now <= reach_ && !bounded_) {  // so far that was a guess
            const double known = float_reach * descent_.warmest(iterated);
            if (target(aim.tol) >= known) reach_ = std::min(reach_, known);
        }
        bool more_digits = floats && now <= reach_;
        const double to_come =
            plain ? pace_.steps_left(now, [&] { return target(aim.tol); }) : 0.0;
        if (plain && pace_.steps() >= steps_before_a_factor && is_slow(to_come)) {
            if (aim.beside) return State::slow;
            descent_.precondition(problem_.factor());
            more_digits = floats && target(aim.tol) < reach_;
            weighed_ = infinity;
        } else if (!aim.beside && to_come >= steps_worth_an_order &&
                   problem_.is_scattered(descent_.width())) {
            const std::vector<std::int32_t> before = problem_.reorder();
            if (!before.empty()) {
                descent_.follow(before);
                continue;
            }
            weighed_ = infinity;  // it was not reduced so far: X must be weighed again
        } else if (now > reach_ || is_near(aim.tol)) {
            const bool look_is_due = aim.look_at > 0 && likely() <= aim.look_at;
            if (!look_is_due && Clock::now() < until) continue;
            if (is_near(aim.tol)) continue;
            paused_ = true;
            return State::going;
        }
        if (!weigh_again(X) || more_digits || level() <= least_) return State::short_of_digits;
        reach_ = reach<T>();
    }
    return State::reached;
}

template <class T>
void Steering::make_steps(const Columns<T>& X, int steps) {
    descent_.begin(without_hidden(X), scale_);
    float levels[max_width + 1];
    for (int k = 0; k < steps; ++k) descent_.step(without_hidden(X), exits(), levels);
}

template <class T>
std::vector<State> run_beside(const std::vector<Steering*>& steerings,
                              const std::vector<Columns<T>>& columns, bool cold, Aim aim,
                              int threads) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::duration<double>(aim.seconds);
    std::vector<State> states(steerings.size(), State::going);
    for (Steering* const one : steerings) one->prepare();  // not while another one looks
    for_chunks(threads, static_cast<std::int64_t>(steerings.size()), [&](std::int64_t k) {
        Aim own = aim;
        own.beside = true;
        own.seconds = std::chrono::duration<double>(until - Clock::now()).count();
        if (own.seconds <= 0) return;
        states[k] = steerings[k]->run<T>(columns[k], cold, own);
        if (states[k] != State::going) steerings[k]->rest();  // room for the next one
    });
    return states;
}

template std::vector<State> run_beside<float>(const std::vector<Steering*>&,
                                              const std::vector<Columns<float>>&, bool, Aim, int);
template std::vector<State> run_beside<double>(const std::vector<Steering*>&,
                                               const std::vector<Columns<double>>&, bool, Aim, int);
template void Steering::make_steps<float>(const Columns<float>&, int);
template void Steering::make_steps<double>(const Columns<double>&, int);
template State Steering::run<float>(const Columns<float>&, bool, const Aim&);
template State Steering::run<double>(const Columns<double>&, bool, const Aim&);
template void Steering::settle<float>(const Columns<float>&, bool);
template void Steering::settle<double>(const Columns<double>&, bool);

}  // namespace isotherm
