// Evidence against exact sums: all numbers are multiples of powers of two, so that 128 bits hold
// every sum to its last digit.
#include "proof.hpp"
#include "rounding.hpp"
#include "test_core.hpp"

namespace isotherm {
namespace {

__extension__ typedef __int128 Exact;

constexpr int leak_digits = 4;

// x in units of 2^-digits.
Exact exactly(double x, int digits) {
    const double scaled = std::ldexp(x, digits);
    CHECK(std::floor(scaled) == scaled && std::fabs(scaled) < 0x1p100);
    return static_cast<Exact>(scaled);
}

// A claim in arrays of its own, no longer than they are.
struct Facts {
    std::vector<Int> start{0};
    std::vector<std::int32_t> ends;
    Doubles weights;  // none: all are 1
    std::vector<std::uint8_t> free;
    double leak = 0;
    int columns = 1;
    Doubles X, h;
    // Of each node, −1 without one; and a row of temperatures for each.
    std::vector<std::int32_t> tie_of;
    Doubles tie_weights, tie_values;
    double roundings = 0;
    int digits_of_weights = 20, digits_of_X = 53, digits_of_h = 20;

    Int n() const { return static_cast<Int>(start.size()) - 1; }
    Graph graph() const {
        return {n(), start.data(), ends.data(), weights.empty() ? nullptr : weights.data()};
    }
    Ties ties() const {
        if (tie_of.empty()) return {};
        return {tie_of.data(), tie_weights.data(), tie_values.data(), roundings};
    }
    double x(Int i, int k) const { return X[i * columns + k]; }
};

// Σ w (x_j − x_i) − τ d x_i + a (y − x_i), and how much the weight of a tie may change that.
template <class Value>
double exact_residual(const Facts& facts, Int i, int digits, Value x, double known, double& unsure) {
    const Graph graph = facts.graph();
    const int of_weights = facts.digits_of_weights;
    const Exact own = exactly(x(i), digits);
    Exact flow = 0, degree = 0;
    for (Int e = graph.start[i]; e < graph.start[i + 1]; ++e) {
        const Exact w = exactly(graph.weight(e), of_weights);
        flow += w * (exactly(x(graph.ends[e]), digits) - own);
        degree += w;
    }
    unsure = 0;
    if (!facts.tie_of.empty() && facts.tie_of[i] >= 0) {
        const double a = facts.tie_weights[facts.tie_of[i]];
        flow += exactly(a, of_weights) * (exactly(known, digits) - own);
        unsure = facts.roundings * unit_roundoff * a * std::fabs(known - x(i));
    }
    flow *= 1 << leak_digits;
    flow -= exactly(facts.leak, leak_digits) * degree * own;
    return std::ldexp(static_cast<double>(flow), -(digits + of_weights + leak_digits));
}

// What a level must be at the least, for each column, and what h drains at the most.
struct Truth {
    Doubles levels, drains;

    explicit Truth(const Facts& facts) : levels(facts.columns, 0.0), drains(facts.n(), 0.0) {
        for (Int i = 0; i < facts.n(); ++i) {
            if (!facts.free[i]) continue;
            double unsure = 0;
            drains[i] = -exact_residual(facts, i, facts.digits_of_h,
                                        [&](Int j) { return facts.h[j]; }, 0.0, unsure);
            drains[i] -= unsure;
            CHECK(drains[i] > 0);
            for (int k = 0; k < facts.columns; ++k) {
                const bool tied = !facts.tie_of.empty() && facts.tie_of[i] >= 0;
                const double known = tied ? facts.tie_values[facts.tie_of[i] * facts.columns + k] : 0;
                double r = exact_residual(facts, i, facts.digits_of_X,
                                          [&](Int j) { return facts.x(j, k); }, known, unsure);
                r = std::fabs(r) + unsure;
                levels[k] = std::max(levels[k], r / drains[i]);
            }
        }
    }
};

// With the slack that a certificate has; what is exact was rounded by a few digits, too.
template <class T>
void evidence_is_true(const Facts& facts, const Truth& truth, bool is_known, bool packed, int threads,
                      const Kernels* kernels) {
    const std::vector<T> X(facts.X.begin(), facts.X.end());
    CHECK(std::equal(X.begin(), X.end(), facts.X.begin()));
    Doubles drains(facts.n(), 0.0);
    const Claim<double> of_h{facts.graph(), facts.free.data(), facts.leak, nullptr, 0,
                             facts.h.data(), facts.ties(), nullptr};
    Claim<double> cold = of_h;
    const Doubles nothing(facts.tie_weights.size(), 0.0);
    if (cold.ties.row_of) cold.ties.values = nothing.data();
    find_drains(cold, threads, kernels->prover(), drains.data());
    for (Int i = 0; i < facts.n(); ++i) CHECK(drains[i] <= truth.drains[i] * (1 + 4 * unit_roundoff));
    const Claim<T> claim{facts.graph(), facts.free.data(), facts.leak, X.data(), facts.columns,
                         facts.h.data(), facts.ties(), is_known ? drains.data() : nullptr};
    const Evidence found = prove(claim, threads, kernels->prover(), packed);
    for (int k = 0; k < facts.columns; ++k) {
        const double level = found.level[k] * (1 + 16 * unit_roundoff);
        if(!(truth.levels[k] * (1 - 8 * unit_roundoff) <= level)) std::printf("k %d of %d true %.17g found %.17g rounding %g n %d known %d packed %d w %d %s T%d leak %g\n", k, facts.columns, truth.levels[k], level, found.rounding[k], (int)facts.n(), is_known, packed, (int)facts.weights.size(), kernels->name, (int)sizeof(T), facts.leak);
        CHECK(truth.levels[k] * (1 - 8 * unit_roundoff) <= level);
        CHECK(found.level[k] <= 1.001 * truth.levels[k] + 1e-6);
        CHECK(found.rounding[k] <= 1e-6);
    }
}

double rounded(double x, int digits) { return std::ldexp(std::nearbyint(std::ldexp(x, digits)), -digits); }

// A row of so many entries, with temperatures by which sums go astray as far as they can: after a
// first 1, each further number is a little less than half of the last digit, and lost; or all but
// cancel each other; or are nearly at equilibrium.
void hubs_go_astray_no_further_than_bounded(Int degree, bool weighted, double leak, bool is_float) {
    constexpr int K = 5;
    Facts facts;
    facts.columns = K;
    facts.leak = leak;
    facts.digits_of_X = 60;
    facts.free.assign(degree + 1, 0);
    facts.free[0] = 1;
    facts.h.assign(degree + 1, 0.0);
    facts.h[0] = 1;
    for (Int j = 1; j <= degree; ++j) facts.ends.push_back(static_cast<std::int32_t>(j));
    facts.start.resize(degree + 2, 2 * degree);
    facts.start[1] = degree;
    for (Int j = 1; j <= degree; ++j) facts.start[j + 1] = degree + j;
    facts.ends.resize(2 * degree, 0);
    for (Int e = 0; weighted && e < 2 * degree; ++e) {
        // The first is 1, the others are not quite.
        const Int j = e < degree ? e : e - degree;
        facts.weights.push_back(j == 0 ? 1.0 : 1.0 - 0x1p-20 * static_cast<double>(j % 7));
    }
    const auto digits = is_float ? 24 : 53;
    facts.X.assign(K * (degree + 1), 0.0);
    double sum = 0, all = 0;
    for (Int j = 1; j <= degree; ++j) {
        double* const x = facts.X.data() + j * K;
        const double lost = 0x1p-53 - 0x1p-60;
        x[0] = j == 1 ? 1.0 : lost;
        x[1] = j == 1 ? -1.0 : -lost;
        x[2] = j == degree ? -1.0 : j == 1 ? 1.0 : lost;
        x[3] = rounded((j % 2 ? 1 : -1) * dice.uniform(), digits);
        x[4] = rounded(dice.uniform(), digits);
        const double w = weighted ? facts.weights[j - 1] : 1.0;
        sum += w * x[4];
        all += w;
    }
    facts.X[4] = rounded(sum / (all * (1 + leak)), digits);
    const Truth truth(facts);
    for (const Kernels* const kernels : all_kernels()) {
        for (const bool is_known : {false, true}) {
            if (is_float) evidence_is_true<float>(facts, truth, is_known, true, 1, kernels);
            else evidence_is_true<double>(facts, truth, is_known, true, 1, kernels);
        }
    }
    // One column at a time: by itself, and packed behind h.
    for (int k = 0; k < K; ++k) {
        Facts one = facts;
        one.columns = 1;
        one.X.clear();
        for (Int i = 0; i <= degree; ++i) one.X.push_back(facts.x(i, k));
        const Truth alone(one);
        CHECK(alone.levels[0] == truth.levels[k]);
        for (const Kernels* const kernels : all_kernels()) {
            evidence_is_true<double>(one, alone, true, true, 1, kernels);
            evidence_is_true<double>(one, alone, false, true, 1, kernels);
            evidence_is_true<double>(one, alone, false, false, 1, kernels);
        }
    }
}

// The same of what h drains: after a first 1, each further number is a little more than half of the
// last digit, and taken for all of it.
void drains_go_astray_no_further_than_bounded(Int degree) {
    Facts facts;
    facts.digits_of_weights = 60;
    facts.digits_of_h = 2;
    facts.digits_of_X = 2;
    facts.free.assign(degree + 1, 0);
    facts.free[0] = 1;
    facts.h.assign(degree + 1, 0.0);
    facts.h[0] = 1;
    facts.X.assign(degree + 1, 0.0);
    facts.X[1] = 1;
    for (Int e = 0; e < 2 * degree; ++e) {
        facts.ends.push_back(e < degree ? static_cast<std::int32_t>(e + 1) : 0);
        facts.weights.push_back(e % degree == 0 ? 1.0 : 0x1p-53 + 0x1p-60);
    }
    facts.start.push_back(degree);
    for (Int j = 1; j <= degree; ++j) facts.start.push_back(degree + j);
    const Truth truth(facts);
    for (const Kernels* const kernels : all_kernels()) {
        for (const bool packed : {false, true}) {
            evidence_is_true<double>(facts, truth, packed, packed, 1, kernels);
            evidence_is_true<double>(facts, truth, false, packed, 1, kernels);
        }
    }
}

// Rings in which each node has further neighbours at so many distances: as many nodes and entries as
// make the prover ask for memory ahead. Exit times are nearly all the same, but it leaks.
Facts ring(Int n_nodes, int n_distances, bool weighted, int columns) {
    Facts facts;
    facts.columns = columns;
    facts.leak = 0.5;
    facts.digits_of_X = 24;
    std::vector<Int> distances{1};
    while (static_cast<int>(distances.size()) < n_distances) {
        distances.push_back(distances.back() + 1 + dice.below(n_nodes / (3 * n_distances)));
    }
    std::vector<std::int32_t> row;
    for (Int i = 0; i < n_nodes; ++i) {
        row.clear();
        for (const Int d : distances) {
            row.push_back(static_cast<std::int32_t>((i + d) % n_nodes));
            row.push_back(static_cast<std::int32_t>((i + n_nodes - d) % n_nodes));
        }
        std::sort(row.begin(), row.end());
        facts.ends.insert(facts.ends.end(), row.begin(), row.end());
        facts.start.push_back(static_cast<Int>(facts.ends.size()));
        for (const std::int32_t j : row) {  // the same both ways
            if (weighted) facts.weights.push_back(1 + static_cast<double>((i + j) % 1000) * 0x1p-20);
        }
        facts.free.push_back(i % 10 > 0);
        facts.h.push_back(i % 10 ? 1 + rounded(0.1 * dice.uniform(), facts.digits_of_h) : 0.0);
        for (int k = 0; k < columns; ++k) facts.X.push_back(rounded(dice.uniform(), 24));
    }
    facts.ends.shrink_to_fit();
    facts.weights.shrink_to_fit();
    return facts;
}

// Some of the columns.
Facts with_columns(const Facts& all, int columns) {
    Facts facts = all;
    facts.columns = columns;
    facts.X.clear();
    for (Int i = 0; i < all.n(); ++i) {
        for (int k = 0; k < columns; ++k) facts.X.push_back(all.x(i, k));
    }
    return facts;
}

void memory_that_is_asked_for_ahead_changes_nothing() {
    const Int n = 140'000;
    CHECK(n * Int{sizeof(float)} > near_bytes);
    for (const bool weighted : {false, true}) {
        // Entries that no cache has, if a column is proven by itself.
        const Facts all = ring(n, weighted ? 5 : 16, weighted, 5);
        const Int bytes = weighted ? sizeof(double) + sizeof(std::int32_t) : sizeof(std::int32_t);
        CHECK(static_cast<Int>(all.ends.size()) * bytes > far_bytes);
        const Truth truth(all);
        for (const int columns : {1, 3, 5}) {
            const Facts facts = with_columns(all, columns);
            Truth of_these = truth;
            of_these.levels.resize(columns);
            for (const Kernels* const kernels : all_kernels()) {
                evidence_is_true<float>(facts, of_these, columns == 1, true, 1, kernels);
                evidence_is_true<double>(facts, of_these, false, columns == 3, 2, kernels);
                if (columns == 1) evidence_is_true<float>(facts, of_these, false, false, 2, kernels);
            }
        }
    }
    // Nor where there are fewer entries than are looked ahead.
    Facts few = ring(n, 1, true, 2);
    few.ends = {1, 0};
    few.weights = {0.5, 0.5};
    few.start.assign(n + 1, 2);
    few.start[0] = 0;
    few.start[1] = 1;
    few.free.assign(n, 0);
    few.free[1] = 1;
    few.h.assign(n, 0.0);
    few.h[1] = 1;
    const Truth truth(few);
    for (const Kernels* const kernels : all_kernels()) {
        for (const bool packed : {false, true}) {
            evidence_is_true<float>(few, truth, packed, packed, 1, kernels);
            evidence_is_true<double>(few, truth, false, packed, 1, kernels);
        }
    }
}

// Ties whose weights were rounded so often that it shows, at nodes of few and of many neighbours, in all
// widths of rows.
void ties_count_as_they_were_before_they_were_rounded(bool weighted, double leak) {
    for (int columns = 1; columns <= 20; ++columns) {
        Facts facts = ring(200, 1 + columns % 4, weighted, columns);
        facts.leak = leak;
        facts.roundings = 1e6;
        facts.tie_of.assign(facts.n(), -1);
        for (Int i = 0; i < facts.n(); ++i) {
            if (!facts.free[i] || (leak > 0 && i % 3)) continue;
            facts.tie_of[i] = static_cast<std::int32_t>(facts.tie_weights.size());
            facts.tie_weights.push_back(rounded(1 + dice.uniform(), facts.digits_of_weights));
            for (int k = 0; k < columns; ++k) facts.tie_values.push_back(rounded(dice.uniform(), 24));
        }
        // Not far from what each node is tied to, lest residuals hide the rounding.
        for (Int i = 0; i < facts.n(); ++i) {
            for (int k = 0; k < columns; ++k) {
                if (columns % 2) facts.X[i * columns + k] = 1 + rounded(1e-6 * dice.uniform(), 23);
            }
        }
        const Truth truth(facts);
        for (const Kernels* const kernels : all_kernels()) {
            for (const bool is_known : {false, true}) {
                evidence_is_true<float>(facts, truth, is_known, true, 2, kernels);
                evidence_is_true<double>(facts, truth, is_known, columns % 2, 1, kernels);
            }
        }
    }
}

// Products too small for any digit are not 0.
void what_vanishes_is_accounted_for(const Kernels* kernels) {
    for (int columns = 1; columns <= 5; ++columns) {
        const std::vector<Int> start{0, 1, 2};
        const std::vector<std::int32_t> ends{1, 0};
        const Doubles weights{0x1p-490, 0x1p-490}, h{1, 0};
        const std::vector<std::uint8_t> free{1, 0};
        Doubles X(2 * columns, 0.0);
        for (int k = 0; k < columns; ++k) X[columns + k] = 0x1p-600;
        const Graph graph{2, start.data(), ends.data(), weights.data()};
        const Claim<double> claim{graph, free.data(), 0.0, X.data(), columns, h.data(), {}};
        const Evidence found = prove(claim, 1, kernels->prover());
        for (int k = 0; k < columns; ++k) {  // |r| / (M h) is 2^-600
            CHECK(found.level[k] >= 0x1p-600 && found.level[k] <= 0x1p-500);
        }
    }
}

// --- certificates --------------------------------------------------------------------------------

// All that a certificate rests on, of a small problem that is solved to a few digits.
struct Case {
    static constexpr Int K = 3;
    std::shared_ptr<const Sample> sample =
        std::make_shared<Sample>(with_hub(scattered(301, 100)), true, 0.1);
    std::vector<std::uint8_t> free = sample->free;
    double leak = 0;
    Doubles X, h, exact, values, low, high;
    std::vector<Int> boundary;
    std::vector<std::uint8_t> unreached;
    Int n_free = 0;
    Evidence found{K};

    Case() : low(K, infinity), high(K, -infinity) {
        const Sample& s = *sample;
        const Dense inverse = inverse_of(s, leak);
        const Graph graph = view(s.own);
        for (Int i = 0; i < s.n; ++i) {
            n_free += s.free[i];
            unreached.push_back(!s.free[i] && !s.fixed[i]);
            for (int k = 0; k < K; ++k) X.push_back(s.fixed[i] ? dice.uniform() : 0.0);
            if (!s.fixed[i]) continue;
            boundary.push_back(i);
            for (int k = 0; k < K; ++k) {
                const double value = X[i * K + k];
                values.push_back(value);
                low[k] = std::min(low[k], value);
                high[k] = std::max(high[k], value);
            }
        }
        exact = X;
        for (int k = 0; k < K; ++k) {
            const Doubles x = solved(s, inverse, [&](Int i) {
                double heat = 0;
                for (Int e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                    const Int j = graph.ends[e];
                    if (s.fixed[j]) heat += graph.weight(e) * X[j * K + k];
                }
                return heat;
            });
            for (Int i = 0; i < s.n; ++i) {
                if (!s.free[i]) continue;
                exact[i * K + k] = x[i];
                X[i * K + k] = std::clamp(x[i] + 1e-6 * (dice.uniform() - 0.5), low[k], high[k]);
            }
        }
        h = solved(s, inverse, [&](Int i) { return s.degrees[i]; });
        found = prove(claim(), 1, best_kernels().prover());
    }
    Claim<double> claim() const {
        return {view(sample->own), free.data(), leak, X.data(), K, h.data(), {}};
    }
    // The bound, or −1.
    double certified(Doubles& nodes, Doubles& columns, Doubles& spans) const {
        const Given given{static_cast<Int>(boundary.size()), boundary.data(), values.data(),
                          low.data(), high.data(), unreached.data(), n_free};
        nodes.assign(sample->n, -7.0);
        columns.assign(K, -7.0);
        spans.assign(K, -7.0);
        return certify(claim(), found, given, {nodes.data(), columns.data(), spans.data()});
    }
    double certified() const {
        Doubles nodes, columns, spans;
        return certified(nodes, columns, spans);
    }
};

void certificates_bound_the_errors() {
    Case good;
    Doubles nodes, columns, spans;
    const double bound = good.certified(nodes, columns, spans);
    double most = 0;
    for (Int i = 0; i < good.sample->n; ++i) {
        CHECK(std::isnan(nodes[i]) == (good.unreached[i] != 0));
        for (int k = 0; good.free[i] && k < Case::K; ++k) {
            const double error = std::fabs(good.X[i * Case::K + k] - good.exact[i * Case::K + k]);
            CHECK(error <= std::min(nodes[i] * columns[k], spans[k]) + 1e-13);
            most = std::max(most, std::min(nodes[i] * columns[k], spans[k]));
        }
    }
    CHECK(most > 0 && most <= bound && bound <= most * (1 + 1e-12));

    // Beyond the values of the boundary, their span says nothing.
    const Int at = std::find(good.free.begin(), good.free.end(), 1) - good.free.begin();
    for (const double beyond : {good.high[1] + 1e-9, good.low[1] - 1e-9}) {
        Case one = good;
        one.X[at * Case::K + 1] = beyond;
        one.found = prove(one.claim(), 1, best_kernels().prover());
        CHECK(one.certified(nodes, columns, spans) > 0);
        CHECK(spans[1] == infinity && spans[0] < 1.1);
    }
}

void what_is_unusual_is_not_certified() {
    const Case good;
    CHECK(good.certified() > 0);
    const auto refused = [&](auto spoil) {
        Case bad = good;
        spoil(bad);
        CHECK(bad.certified() == -1);
    };
    refused([](Case& bad) { bad.found.stray = true; });
    refused([](Case& bad) { ++bad.found.n_nodes; });
    refused([](Case& bad) { --bad.n_free; });
    for (const double wrong : {0.0, -1.0, 0x1p-501, 0x1p501, infinity, nan}) {
        refused([&](Case& bad) { bad.found.least_degree = wrong; });
        refused([&](Case& bad) { bad.found.greatest_degree = wrong; });
        refused([&](Case& bad) { bad.found.least_exit = wrong; });
        refused([&](Case& bad) { bad.found.greatest_exit = wrong; });
    }
    refused([](Case& bad) {  // with the leak, its degrees are too great
        bad.found.greatest_degree = 0x1p500;
        bad.leak = 0.5;
    });
    for (int k = 0; k < Case::K; ++k) {
        for (const double wrong : {infinity, nan}) {
            refused([&](Case& bad) { bad.found.level[k] = wrong; });
        }
        refused([&](Case& bad) { bad.found.high[k] = 0; });  // a column without any heat, perhaps
        refused([&](Case& bad) { bad.low[k] = -0x1p501; });
        refused([&](Case& bad) { bad.high[k] = 0x1p501; });
        for (std::size_t b = 0; b < good.boundary.size(); b += 7) {
            refused([&](Case& bad) {
                double& x = bad.X[bad.boundary[b] * Case::K + k];
                x = std::nextafter(x, 2);
            });
            refused([&](Case& bad) { bad.X[bad.boundary[b] * Case::K + k] = nan; });
        }
    }
    // From where they come: a temperature, an exit time or a weight that is no number, and exit times
    // that drain nothing.
    const auto proven_anew = [&](auto spoil) {
        refused([&](Case& bad) {
            spoil(bad);
            for (const Kernels* const kernels : all_kernels()) {
                bad.found = prove(bad.claim(), 2, kernels->prover());
                CHECK(bad.certified() == -1);
            }
        });
    };
    const Int free = std::find(good.free.begin(), good.free.end(), 1) - good.free.begin();
    for (const double wrong : {nan, infinity, -infinity}) {
        proven_anew([&](Case& bad) { bad.X[free * Case::K + 2] = wrong; });
        proven_anew([&](Case& bad) { bad.h[free] = wrong; });
    }
    for (const double wrong : {0.0, -1.0, 1e9}) {
        proven_anew([&](Case& bad) { bad.h[free] = wrong; });
    }
    proven_anew([&](Case& bad) { bad.h[bad.boundary[0]] = 1e-300; });
    proven_anew([&](Case& bad) { bad.found = Evidence(Case::K); bad.free[free] = 0; });
}

}  // namespace

void test_rounding() {
    for (const bool weighted : {false, true}) {
        for (const Int degree : {Int{10}, Int{1000}, Int{100'000}}) {
            for (const double leak : {0.0, 0.25}) {
                hubs_go_astray_no_further_than_bounded(degree, weighted, leak, leak > 0);
            }
        }
        for (const double leak : {0.0, 0.5}) ties_count_as_they_were_before_they_were_rounded(weighted, leak);
    }
    for (const Int degree : {10, 1000, 100'000}) drains_go_astray_no_further_than_bounded(degree);
    for (const Kernels* const kernels : all_kernels()) what_vanishes_is_accounted_for(kernels);
    memory_that_is_asked_for_ahead_changes_nothing();
}

void test_certificates() {
    certificates_bound_the_errors();
    what_is_unusual_is_not_certified();
}

}  // namespace isotherm
