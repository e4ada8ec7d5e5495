#include "judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "threads.hpp"

namespace isotherm {
namespace {

// Fewer numbers than `least` are not worth waking another thread. Of more, chunks are short: whoever
// is woken late leaves little to wait for.
constexpr std::int64_t least = 1 << 15, numbers_per_chunk = 1 << 12;
constexpr double infinity = std::numeric_limits<double>::infinity();

// It depends on the sizes alone, and so do sums over chunks.
std::int64_t nodes_per_chunk(const Rule& rule) {
    const std::int64_t classes = std::max(rule.n_classes, 1);
    if (rule.n_nodes * classes < least) return std::max<std::int64_t>(rule.n_nodes, 1);
    return std::max<std::int64_t>(numbers_per_chunk / classes, 1);
}

double node_error(const Rule& rule, std::int64_t i) {
    return rule.node[i] == rule.node[i] ? rule.node[i] : 0.0;  // an unreached node taken as 0 is exact
}

// Of one node, an entry for each class.
struct Scores {
    std::vector<double> score, error, doubt;  // doubt: error of the temperature
    explicit Scores(std::size_t n) : score(n), error(n), doubt(n) {}
};

// What all nodes need of the classes; the greatest of each error, for a bound quickly found.
struct Classes {
    double column = 0, slope = 0, growth = 0, offset = 0;
    std::vector<double> inverse_scale;
    Scoring scoring;
    explicit Classes(const Rule& rule) {
        for (int k = 0; k < rule.n_classes; ++k) {
            inverse_scale.push_back(1 / rule.scale[k]);
            column = worse(column, rule.column[k]);
            slope = worse(slope, rule.slope[k]);
            growth = worse(growth, rule.growth[k]);
            offset = worse(offset, rule.offset[k]);
        }
        scoring = {rule.n_classes, rule.shift, inverse_scale.data()};
    }
    double score(int k, double temperature) const {
        return (temperature - scoring.shift[k]) * inverse_scale[k];
    }
    double error(double node, double largest_score) const {
        return slope * node * column + growth * largest_score + offset;
    }
};

// The first class, of those that may be the best, than which no other is surely warmer.
template <class T>
std::int64_t break_tie(const Rule& rule, const T* t, const Scores& scores, double least) {
    const auto possible = [&](int k) { return scores.score[k] + scores.error[k] >= least; };
    double warmest = -infinity;
    for (int k = 0; k < rule.n_classes; ++k) {
        if (possible(k)) warmest = std::max(warmest, t[k] - scores.doubt[k]);
    }
    for (int k = 0; k < rule.n_classes; ++k) {
        if (possible(k) && t[k] + scores.doubt[k] >= warmest) return k;
    }
    return 0;
}

// A free node whose lead is not obvious.
template <class T>
void judge_closely(const Rule& rule, const Classes& classes, const T* t, std::int64_t i,
                   std::int64_t best, const Verdict& out, Scores& scores) {
    const double node = node_error(rule, i);
    double most_doubt = 0, rival_most = -infinity;
    for (int k = 0; k < rule.n_classes; ++k) {
        scores.score[k] = classes.score(k, t[k]);
        scores.doubt[k] = std::min(node * rule.column[k], rule.span[k]);
        scores.error[k] = rule.slope[k] * scores.doubt[k] + rule.growth[k] * std::fabs(scores.score[k]) +
                       rule.offset[k];
        most_doubt = worse(most_doubt, scores.doubt[k]);
        if (k != best) rival_most = worse(rival_most, scores.score[k] + scores.error[k]);
    }
    const double least = scores.score[best] - scores.error[best], lead = least - rival_most;
    const double inaccuracy = worse(most_doubt, rule.mean_error) / rule.tol;
    const bool certified = lead > 0;
    const bool tied = !certified && inaccuracy <= 1 && std::isfinite(lead);
    out.certified[i] = certified;
    if (tied) {
        out.status[i] = tie;
        out.codes[i] = break_tie(rule, t, scores, least);
    }
}

// Node i, whose lead is number l of those found.
template <class T>
void judge_node(const Rule& rule, const Classes& classes, const T* t, std::int64_t i,
                const Leads& leads, std::int64_t l, const Verdict& out, Scores& scores) {
    const std::int64_t own = rule.seeds[i];
    if (t[0] != t[0]) {  // no temperature
        out.codes[i] = own;
        out.margins[i] = std::numeric_limits<double>::quiet_NaN();
        out.status[i] = own >= 0 ? seed : no_heat;
        out.certified[i] = true;
        return;
    }
    const double margin = leads.top[l] - leads.rival[l];
    const bool certified = own >= 0 || rule.n_classes == 1 ||
                           margin > 2 * classes.error(node_error(rule, i), leads.largest[l]);
    out.codes[i] = own >= 0 ? own : leads.best[l];
    out.margins[i] = margin;
    out.status[i] = own >= 0 ? seed : predicted;
    out.certified[i] = certified;
    if (!certified) judge_closely(rule, classes, t, i, leads.best[l], out, scores);
}

// Nodes [first, last).
template <class T>
void judge_nodes(const Rule& rule, const Classes& classes, const T* temperatures,
                 std::int64_t first, std::int64_t last, const Verdict& out,
                 const LeadFinder& finder) {
    Scores scores(static_cast<std::size_t>(rule.n_classes));
    Leads leads;
    for (std::int64_t begin = first; begin < last; begin += Leads::most) {
        const auto count = static_cast<int>(std::min<std::int64_t>(Leads::most, last - begin));
        const T* const rows = temperatures + begin * rule.n_classes;
        if constexpr (sizeof(T) == 4) finder.find_f(classes.scoring, rows, count, leads);
        else finder.find_d(classes.scoring, rows, count, leads);
        for (std::int64_t l = 0; l < count; ++l) {
            const T* const t = rows + l * rule.n_classes;
            judge_node(rule, classes, t, begin + l, leads, l, out, scores);
        }
    }
}

}  // namespace

template <class T>
void judge(const Rule& rule, const T* temperatures, const Verdict& verdict, int threads,
           const LeadFinder& finder) {
    const Classes classes(rule);
    const std::int64_t chunk = nodes_per_chunk(rule);
    for_pieces(threads, rule.n_nodes, chunk, [&](std::int64_t first, std::int64_t last) {
        judge_nodes(rule, classes, temperatures, first, last, verdict, finder);
    });
}

template <class T>
Sums sum_up(const Rule& rule, const T* temperatures, int threads) {
    const int K = rule.n_classes;
    const std::int64_t chunk = nodes_per_chunk(rule), n_chunks = (rule.n_nodes + chunk - 1) / chunk;
    const std::int64_t size = 2 * K + 4;  // sums, errors and counts, for seeds and for free nodes
    std::vector<double> parts(static_cast<std::size_t>(n_chunks * size), 0.0);
    for_pieces(threads, rule.n_nodes, chunk, [&](std::int64_t first, std::int64_t last) {
        double* const part = parts.data() + first / chunk * size;
        for (std::int64_t i = first; i < last; ++i) {
            const T* const t = temperatures + i * K;
            if (t[0] != t[0]) continue;
            const int among = rule.seeds[i] < 0;
            for (int k = 0; k < K; ++k) part[among * K + k] += t[k];
            part[2 * K + among] += node_error(rule, i);
            part[2 * K + 2 + among] += 1;
        }
    });
    std::vector<double> all(static_cast<std::size_t>(size), 0.0);
    for (std::size_t k = 0; k < parts.size(); ++k) all[k % all.size()] += parts[k];
    for (int k = 0; k < K; ++k) all[k] += all[K + k];  // seeds become all nodes
    for (int k = 2 * K; k < size; k += 2) all[k] += all[k + 1];
    Sums sums;
    sums.temperatures.assign(all.begin(), all.begin() + 2 * K);
    for (int among = 0; among < 2; ++among) {
        sums.errors[among] = all[static_cast<std::size_t>(2 * K + among)];
        const double count = all[static_cast<std::size_t>(2 * K + 2 + among)];
        sums.counts[among] = static_cast<std::int64_t>(count);
    }
    sums.n_nodes = rule.n_nodes;
    return sums;
}

template void judge<float>(const Rule&, const float*, const Verdict&, int, const LeadFinder&);
template void judge<double>(const Rule&, const double*, const Verdict&, int, const LeadFinder&);
template Sums sum_up<float>(const Rule&, const float*, int);
template Sums sum_up<double>(const Rule&, const double*, int);

}  // namespace isotherm
