// Decisions: mean temperatures → scores, and how far off these may be. What each decision means,
// and why the bounds hold, is said in isotherm/decision.py, of which this is the quick twin.
#pragma once

#include <vector>

#include "judge.hpp"

namespace isotherm {

enum class Decision { centered, plain, partial, mass, standard, ratio };
constexpr int n_decisions = 6;
constexpr const char* decision_names[n_decisions] = {"centered", "plain",    "partial",
                                                     "mass",     "standard", "ratio"};

// What a decision makes of sums: completes a rule, which has the errors of temperatures already.
class Decided {
public:
    // Shares of the classes among the seeds; the rule points here from then on.
    Decided(Decision decision, const Sums& sums, const double* shares, Rule& rule);

    // Of each class: means over all nodes, then over free ones; then bounds on their errors.
    const std::vector<double>& means() const { return means_; }

private:
    std::vector<double> means_, shift_, scale_, slope_, growth_, offset_;
};

}  // namespace isotherm
