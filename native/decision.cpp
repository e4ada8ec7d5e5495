#include "decision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rounding.hpp"

namespace isotherm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Of one class: mean temperature of all nodes and of the free ones, share among the seeds.
struct Means {
    double all, free, share;
};

// score = (T − shift) / scale
struct Line {
    double shift, scale;
};

Line line(Decision decision, const Means& mean) {
    switch (decision) {
        case Decision::plain:
            return {0, 1};
        case Decision::centered:
            return {mean.all, 1};
        case Decision::partial:
            return {mean.free, 1};
        case Decision::mass:
            return {0, mean.free / (mean.share == 0 ? 1 : mean.share)};
        case Decision::standard:
            return {mean.all, std::sqrt(std::max(mean.all * (1 - mean.all), 0.0))};
        case Decision::ratio:
            return {0, mean.all};
    }
    return {0, 1};
}

// The error of a score is at most slope · E + growth · |score| + offset, E that of its temperature.
// The scale of the class is at least `least`.
struct ScoreError {
    double slope, growth, offset, least;
};

// In all that follows NaN comes first where it may come at all: std::min and std::max then keep it.
ScoreError score_error(Decision decision, const Means& mean, const Means& error) {
    const Line here = line(decision, mean);
    const Line ends[] = {
        line(decision, {std::max(mean.all - error.all, 0.0), std::max(mean.free - error.free, 0.0),
                        mean.share + error.share}),
        line(decision, {std::min(mean.all + error.all, 1.0), std::min(mean.free + error.free, 1.0),
                        mean.share - error.share})};
    const double shift_error = std::max(std::fabs(ends[0].shift - here.shift),
                                        std::fabs(ends[1].shift - here.shift));
    const double scale_error = std::max(std::fabs(ends[0].scale - here.scale),
                                        std::fabs(ends[1].scale - here.scale));
    const double least = std::min(ends[0].scale, ends[1].scale);
    const bool unscaled = here.scale == 0 && scale_error == 0;
    const double divisor = least > 0 ? least : 1.0;
    const double offset = unscaled || least > 0 ? shift_error / divisor : infinity;
    const double rounding = 16 * unit_roundoff;
    return {(1 + rounding) / divisor, scale_error / divisor * (1 + rounding) + rounding,
            offset * (1 + rounding) +
                rounding * std::fabs(here.shift) / (here.scale > 0 ? here.scale : 1),
            least};
}

}  // namespace

Decided::Decided(Decision decision, const Sums& sums, const double* shares, Rule& rule) {
    const auto K = static_cast<std::size_t>(rule.n_classes);
    for (std::vector<double>* const each : {&shift_, &scale_, &slope_, &growth_, &offset_}) {
        each->resize(K);
    }
    means_.resize(4 * K);
    const double rounding = static_cast<double>(sums.n_nodes) * unit_roundoff;
    const auto mean_of = [&](int among, std::size_t k, double& error) {
        const double count = std::max(static_cast<double>(sums.counts[among]), 1.0);
        const double mean = sums.temperatures[among * K + k] / count;
        const double exact = std::min(sums.errors[among] / count * rule.column[k], rule.span[k]);
        error = means_[(2 + among) * K + k] = exact * (1 + 2 * rounding) + rounding * mean;
        return means_[among * K + k] = mean;
    };
    rule.mean_error = 0;
    for (std::size_t k = 0; k < K; ++k) {
        Means mean{0, 0, shares[k]}, error{0, 0, rounding * shares[k]};
        mean.all = mean_of(0, k, error.all);
        mean.free = mean_of(1, k, error.free);
        const Line here = line(decision, mean);
        const ScoreError off = score_error(decision, mean, error);
        shift_[k] = here.shift;
        scale_[k] = off.least > 0 ? here.scale : 1;  // what may be 0 is not divided by
        slope_[k] = off.slope;
        growth_[k] = off.growth;
        offset_[k] = off.offset;
        rule.mean_error = worse(rule.mean_error, worse(error.all, error.free));
    }
    rule.shift = shift_.data();
    rule.scale = scale_.data();
    rule.slope = slope_.data();
    rule.growth = growth_.data();
    rule.offset = offset_.data();
}

}  // namespace isotherm
