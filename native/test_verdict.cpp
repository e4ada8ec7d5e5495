#include "decision.hpp"
#include "judge.hpp"
#include "values.hpp"
#include "test_core.hpp"

namespace isotherm {
namespace {

// Random temperatures, with seeds, ties and nodes that have none.
template <class T>
struct Court {
    std::vector<T> temperatures;
    std::vector<Int> seeds;
    Doubles node, classes[7];
    Rule rule{};

    explicit Court(int K) {
        rule.n_nodes = 20000;  // several chunks
        rule.n_classes = K;
        for (Int i = 0; i < rule.n_nodes; ++i) {
            const bool has = dice.below(10) > 0, even = dice.below(4) == 0;
            for (int k = 0; k < K; ++k) {
                temperatures.push_back(T(!has ? nan : even ? 0.5 : dice.uniform()));
            }
            seeds.push_back(dice.below(10) ? -1 : dice.below(K));
            node.push_back(has ? std::pow(10, -4 * dice.uniform()) : nan);
        }
        rule.seeds = seeds.data();
        rule.node = node.data();
        const double** const rows[] = {&rule.column, &rule.span,   &rule.shift, &rule.scale,
                                       &rule.slope,  &rule.growth, &rule.offset};
        const double most[] = {0.1, 0.02, 0.5, 2.0, 2.0, 0.01, 0.001};
        for (int r = 0; r < 7; ++r) {
            for (int k = 0; k < K; ++k) classes[r].push_back(most[r] * (1 - dice.uniform() / 2));
            *rows[r] = classes[r].data();
        }
        rule.mean_error = 0.001;
        rule.tol = 0.005;
    }
};

template <class T>
void verdicts_follow_the_rule(int K, int threads, const LeadFinder& finder) {
    const Court<T> court(K);
    const Rule& rule = court.rule;
    std::vector<Int> codes(rule.n_nodes);
    Doubles margins(rule.n_nodes);
    std::vector<std::uint8_t> certified(rule.n_nodes), status(rule.n_nodes);
    judge(rule, court.temperatures.data(),
          {codes.data(), margins.data(), certified.data(), status.data()}, threads, finder);
    bool unsettled = false;
    for (Int i = 0; i < rule.n_nodes; ++i) {
        const T* const t = court.temperatures.data() + i * K;
        const Int own = court.seeds[i];
        if (std::isnan(t[0])) {
            CHECK(codes[i] == own && std::isnan(margins[i]) && certified[i]);
            CHECK(status[i] == (own >= 0 ? seed : no_heat));
            continue;
        }
        Doubles score(K), error(K), doubt(K);
        for (int k = 0; k < K; ++k) {
            score[k] = (t[k] - rule.shift[k]) / rule.scale[k];
            doubt[k] = std::min(rule.node[i] * rule.column[k], rule.span[k]);
            error[k] = rule.slope[k] * doubt[k] + rule.growth[k] * std::fabs(score[k]);
            error[k] += rule.offset[k];
        }
        const Int best = std::max_element(score.begin(), score.end()) - score.begin();
        const double least = score[best] - error[best];
        double margin = infinity, lead = infinity, warmest = -infinity;
        const auto possible = [&](int k) { return score[k] + error[k] >= least; };
        for (int k = 0; k < K; ++k) {
            if (possible(k)) warmest = std::max(warmest, t[k] - doubt[k]);
            if (k == best) continue;
            margin = std::min(margin, score[best] - score[k]);
            lead = std::min(lead, least - (score[k] + error[k]));
        }
        int first = 0;
        while (!(possible(first) && t[first] + doubt[first] >= warmest)) ++first;
        double accuracy = rule.mean_error;
        for (const double d : doubt) accuracy = std::max(accuracy, d);
        const bool clear = own >= 0 || lead > 0, tied = !clear && accuracy <= rule.tol;
        CHECK(certified[i] == clear && status[i] == (own >= 0 ? seed : tied ? tie : predicted));
        CHECK(codes[i] == (own >= 0 ? own : tied ? first : best));
        CHECK(margins[i] == margin || std::fabs(margins[i] - margin) < 1e-12);
        unsettled |= !clear && !tied;
    }
    CHECK(unsettled == (K > 1));
}

template <class T>
void sums_are_over_nodes_with_a_temperature(int K, int threads) {
    const Court<T> court(K);
    const auto found = [&](int some_threads) {
        const Sums sums = sum_up(court.rule, court.temperatures.data(), some_threads);
        Doubles all = sums.temperatures;
        all.insert(all.end(), sums.errors, sums.errors + 2);
        for (const Int count : sums.counts) all.push_back(double(count));
        CHECK(sums.n_nodes == court.rule.n_nodes);
        return all;
    };
    Doubles expected(2 * K + 4);
    for (Int i = 0; i < court.rule.n_nodes; ++i) {
        if (std::isnan(court.temperatures[i * K])) continue;
        for (int among = 0; among < (court.seeds[i] < 0 ? 2 : 1); ++among) {
            for (int k = 0; k < K; ++k) expected[among * K + k] += court.temperatures[i * K + k];
            expected[2 * K + among] += court.node[i];
            expected[2 * K + 2 + among] += 1;
        }
    }
    const Doubles sums = found(threads);
    for (int k = 0; k < 2 * K + 4; ++k) CHECK(std::fabs(sums[k] - expected[k]) < 1e-8);
    CHECK(same_bits(sums, found(1)));
}

// Scores by means that are off, of temperatures that are off, against those of what is true: all too
// warm, all too cold, or as it comes, but no farther off than is said.
template <class T>
void scores_are_no_farther_off_than_said(Decision decision, Int n, double off, int threads) {
    constexpr int K = 4;
    std::vector<T> temperatures;
    std::vector<Int> seeds;
    Doubles node, column, span, shares{0.5, 0.25, 0.25, 0.0};
    for (int k = 0; k < K; ++k) {
        column.push_back(off * (1 + dice.uniform()));
        span.push_back(k == 1 ? off / 2 : 1.0);
    }
    for (Int i = 0; i < n; ++i) {
        const bool has = dice.below(10) > 0;
        seeds.push_back(dice.below(10) ? -1 : dice.below(K));
        node.push_back(!has ? nan : seeds[i] < 0 ? dice.uniform() : 0.0);
        const double rare = std::pow(10, -6 * dice.uniform());
        for (int k = 0; k < K; ++k) {
            const double most = k == 0 ? 1.0 : k == 1 ? rare : k == 2 ? 1e-3 * off : 0.0;
            temperatures.push_back(T(has ? most * dice.uniform() : static_cast<double>(nan)));
        }
    }
    Rule rule{};
    rule.n_nodes = n;
    rule.n_classes = K;
    rule.seeds = seeds.data();
    rule.node = node.data();
    rule.column = column.data();
    rule.span = span.data();
    const Sums sums = sum_up(rule, temperatures.data(), threads);
    const Decided decided(decision, sums, shares.data(), rule);
    const Doubles& means = decided.means();
    for (int way = 0; way < 4; ++way) {
        std::vector<long double> truth(n * K), all(K, 0.0L), free(K, 0.0L);
        long double count = 0, count_free = 0;
        for (Int i = 0; i < n; ++i) {
            if (std::isnan(temperatures[i * K])) continue;
            ++count;
            count_free += seeds[i] < 0;
            for (int k = 0; k < K; ++k) {
                const long double doubt = std::min(node[i] * column[k], span[k]);
                const long double by = way == 0 ? 1 : way == 1 ? -1 : way == 2 ? (i + k) % 2 : 2 * dice.uniform() - 1;
                long double& t = truth[i * K + k] = temperatures[i * K + k] + by * doubt;
                t = std::clamp(t, 0.0L, 1.0L);
                all[k] += t;
                if (seeds[i] < 0) free[k] += t;
            }
        }
        for (int k = 0; k < K; ++k) {
            const long double m = all[k] / count, f = free[k] / count_free;
            CHECK(std::fabs(means[k] - m) <= means[2 * K + k]);
            CHECK(std::fabs(means[K + k] - f) <= means[3 * K + k]);
            CHECK(means[2 * K + k] <= rule.mean_error && means[3 * K + k] <= rule.mean_error);
            long double shift = 0, scale = 1;
            if (decision == Decision::centered || decision == Decision::standard) shift = m;
            if (decision == Decision::partial) shift = f;
            if (decision == Decision::mass) scale = f / (shares[k] == 0 ? 1 : shares[k]);
            if (decision == Decision::standard) scale = std::sqrt(m * (1 - m));
            if (decision == Decision::ratio) scale = m;
            for (Int i = 0; i < n; ++i) {
                if (std::isnan(temperatures[i * K])) continue;
                const double score = (temperatures[i * K + k] - rule.shift[k]) / rule.scale[k];
                const double doubt = std::min(node[i] * column[k], span[k]);
                const double error = rule.slope[k] * doubt + rule.growth[k] * std::fabs(score) +
                                     rule.offset[k];
                // What may be 0 is not divided by: that may be as far off as can be, or exact.
                CHECK(scale > 0 || error == infinity || (off == 0 && means[k] == 0));
                const long double right = (truth[i * K + k] - shift) / (scale > 0 ? scale : 1.0L);
                CHECK(std::fabs(score - right) <= error);
            }
            CHECK(rule.scale[k] > 0);
        }
    }
    // Of a class that is warm everywhere, errors are small where temperatures are good.
    CHECK(off > 0.1 || rule.slope[0] < 10);
    CHECK(off > 0.1 || (rule.offset[0] <= 100 * off + 1e-9 && rule.growth[0] <= 100 * off + 1e-9));
}

// Neither a certified label nor a tie comes from what is no number.
void what_is_no_number_settles_nothing(int threads, const LeadFinder& finder) {
    constexpr int K = 3;
    Court<double> court(K);
    std::vector<Int> codes(court.rule.n_nodes);
    Doubles margins(court.rule.n_nodes);
    std::vector<std::uint8_t> certified(court.rule.n_nodes), status(court.rule.n_nodes);
    const auto judged = [&](const Rule& rule, const double* temperatures) {
        judge(rule, temperatures, {codes.data(), margins.data(), certified.data(), status.data()},
              threads, finder);
    };
    const auto none_is_settled = [&] {
        for (Int i = 0; i < court.rule.n_nodes; ++i) {
            if (court.seeds[i] >= 0 || std::isnan(court.temperatures[i * K])) continue;
            CHECK(!certified[i] && status[i] == predicted);
        }
    };
    for (int r = 0; r < 7; ++r) {
        if (r == 1 || r == 2 || r == 3) continue;  // spans only help; shifts and scales are of no error
        for (int k = 0; k < K; ++k) {
            const double good = std::exchange(court.classes[r][k], nan);
            judged(court.rule, court.temperatures.data());
            none_is_settled();
            court.classes[r][k] = good;
        }
    }
    court.rule.mean_error = nan;
    judged(court.rule, court.temperatures.data());
    for (Int i = 0; i < court.rule.n_nodes; ++i) CHECK(status[i] != tie);

    // A temperature that is infinite, and as far off, alone.
    const double ends[] = {infinity, infinity, infinity}, hot[] = {infinity, 0, 0};
    Rule one = court.rule;
    one.n_nodes = 1;
    one.mean_error = 0;
    const Int no_seed = -1;
    const double near = 1;
    one.seeds = &no_seed;
    one.node = &near;
    one.column = one.span = ends;
    judged(one, hot);
    CHECK(!certified[0] && status[0] == predicted);
}

void ranges_are_those_of_the_values() {
    for (const Int columns : {1, 2, 3, 7}) {
        for (const Int rows : {1, 2, 50}) {
            Doubles values(rows * columns, 0.0), low(columns), high(columns);
            for (Int i = 0; i < rows; ++i) values[i * columns + dice.below(columns)] = 1;
            CHECK(value_ranges(values.data(), rows, columns, low.data(), high.data()));
            for (const double other : {0.5, -1.0, 1.0, 2.0}) {
                Doubles changed = values;
                const Int at = dice.below(rows * columns);
                changed[at] += other;
                Doubles least(columns, infinity), most(columns, -infinity);
                for (Int k = 0; k < rows * columns; ++k) {
                    least[k % columns] = std::min(least[k % columns], changed[k]);
                    most[k % columns] = std::max(most[k % columns], changed[k]);
                }
                CHECK(!value_ranges(changed.data(), rows, columns, low.data(), high.data()));
                CHECK(low == least && high == most);
            }
        }
    }
}

template <class T>
void test_verdict(int threads) {
    for (const int n_classes : {1, 2, 5}) {
        for (const Kernels* const kernels : all_kernels()) {
            verdicts_follow_the_rule<T>(n_classes, threads, kernels->leads());
        }
        sums_are_over_nodes_with_a_temperature<T>(n_classes, threads);
    }
}

}  // namespace

void test_verdicts() {
    for (const int threads : {1, 2, 4}) {
        test_verdict<float>(threads);
        test_verdict<double>(threads);
        for (const Kernels* const kernels : all_kernels()) {
            what_is_no_number_settles_nothing(threads, kernels->leads());
        }
        for (int decision = 0; decision < n_decisions; ++decision) {
            for (const double off : {0.0, 1e-9, 1e-3, 0.5}) {
                const auto which = static_cast<Decision>(decision);
                scores_are_no_farther_off_than_said<float>(which, 300, off, threads);
                scores_are_no_farther_off_than_said<double>(which, 20'000, off, threads);
            }
        }
    }
    ranges_are_those_of_the_values();
}

}  // namespace isotherm
