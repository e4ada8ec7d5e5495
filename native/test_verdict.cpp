#include "judge.hpp"
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
    const double excess = judge(rule, court.temperatures.data(),
                                {codes.data(), margins.data(), certified.data(), status.data()},
                                threads, finder);
    double most = 0;
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
        if (clear || tied) continue;
        const double to_certify = margin > 0 ? (margin - lead) / margin : infinity;
        most = std::max({most, std::min(to_certify, accuracy / rule.tol), 1 + 1e-9});
    }
    CHECK(std::fabs(excess - most) <= 1e-9 * most && (most > 1) == (K > 1));
    CHECK(judge(rule, court.temperatures.data(), {}, threads, finder) == excess);
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
    }
}

}  // namespace isotherm
