#include "bad_graph.hpp"
#include "freed.hpp"
#include "superpose.hpp"
#include "test_core.hpp"

namespace isotherm {
namespace {

// Against the same in long double, whose own rounding is next to none. `is_known`: what h drains is
// found first.
template <class T>
void evidence_bounds_the_residual(const Sample& s, const Doubles& h, double leak, int columns,
                                  bool is_known, const Kernels* kernels) {
    std::vector<T> X;  // as large as it must be, and no larger
    for (Int at = 0; at < s.n * columns; ++at) {
        X.push_back(static_cast<T>(s.free[at / columns] || s.fixed[at / columns]
                                       ? 2 * dice.uniform() - 1
                                       : static_cast<double>(nan)));
    }
    const Graph graph = view(s.own);
    const Operator M{graph, s.free.data(), s.degrees.data(), nullptr, nullptr, 1.0, leak, false, 1.0};
    const int threads = 1 << dice.below(3);
    Doubles drains(s.n, 0.0);
    const Claim<double> of_h{graph, s.free.data(), leak, nullptr, 0, h.data(), {}, nullptr};
    find_drains(of_h, threads, kernels->prover(), drains.data());
    for (Int i = 0; i < s.n; ++i) {
        const long double drain = s.free[i] ? -inflow(M, i, [&](Int j) { return h[j]; }) : 0.0L;
        CHECK(drains[i] <= drain && drain <= drains[i] * (1 + 1e-9));
    }
    const double* const known = is_known ? drains.data() : nullptr;
    const Claim<T> claim{graph, s.free.data(), leak, X.data(), columns, h.data(), {}, known};
    const Evidence found = prove(claim, threads, kernels->prover());
    Int n_free = 0;
    for (Int i = 0; i < s.n; ++i) n_free += s.free[i];
    CHECK(found.n_nodes == n_free && !found.stray);
    for (int k = 0; k < columns; ++k) {
        long double level = 0;
        double low = infinity, high = -infinity;
        for (Int i = 0; i < s.n; ++i) {
            if (!s.free[i]) continue;
            const long double r = inflow(M, i, [&](Int j) { return X[j * columns + k]; });
            const long double drain = -inflow(M, i, [&](Int j) { return h[j]; });
            level = std::max(level, std::fabs(r) / drain);
            low = std::min(low, double(X[i * columns + k]));
            high = std::max(high, double(X[i * columns + k]));
        }
        CHECK(level <= found.level[k] && found.level[k] <= level * (1 + 1e-9));
        CHECK(found.rounding[k] <= 1e-9 * (1 + found.level[k]));
        CHECK(found.high[k] == high && found.minus_low[k] == -low);
    }
}

void test_proof(const Edges& edges, bool weighted, double leak) {
    const Sample s(edges, weighted, 0.1);
    const Doubles h = solved(s, inverse_of(s, leak), [&](Int i) { return s.degrees[i]; });
    for (const Kernels* const kernels : all_kernels()) {
        for (int columns = 1; columns <= 20; ++columns) {
            for (const bool is_known : {false, true}) {
                evidence_bounds_the_residual<float>(s, h, leak, columns, is_known, kernels);
                evidence_bounds_the_residual<double>(s, h, leak, columns, is_known, kernels);
            }
        }
    }
}

// Every entry of free nodes is looked at before what it leads to.
template <class T>
void an_entry_that_leads_outside_is_refused(bool weighted, const Kernels* kernels) {
    Sample s(scattered(50, 150), weighted, 0.1);
    const Doubles h(s.n, 1.0);
    Doubles drains(s.n, 1.0);
    const std::vector<T> X(s.n * 20, T(0.5));
    const Graph graph = view(s.own);
    std::int32_t* const ends = s.own.ends.get();
    for (Int i = 0; i < s.n; ++i) {
        for (Int e = graph.start[i]; s.free[i] && e < graph.start[i + 1]; ++e) {
            const std::int32_t right = ends[e];
            ends[e] = dice.below(2) ? std::int32_t(s.n) : -1;
            for (const int columns : {1, 2, 3, 7, 20}) {
                for (const double* const known : {static_cast<const double*>(nullptr),
                                                  static_cast<const double*>(drains.data())}) {
                    for (const bool packed : {false, true}) {
                        const Claim<T> claim{graph, s.free.data(), 0.0, X.data(), columns,
                                             h.data(), {}, known};
                        CHECK(throws<BadGraph>([&] { prove(claim, 1, kernels->prover(), packed); }));
                    }
                }
            }
            const Claim<double> of_h{graph, s.free.data(), 0.0, nullptr, 0, h.data(), {}, nullptr};
            CHECK(throws<BadGraph>([&] { find_drains(of_h, 1, kernels->prover(), drains.data()); }));
            drains.assign(s.n, 1.0);
            ends[e] = right;
        }
    }
}

// --- leaving seeds out ---------------------------------------------------------------------------

// Temperatures of all nodes, those fixed at what they are held at.
template <class Held>
Doubles equilibrium(const Sample& s, const Dense& inverse, Held held) {
    const Graph graph = view(s.own);
    Doubles T = solved(s, inverse, [&](Int i) {
        double heat = 0;
        for (Int e = graph.start[i]; e < graph.start[i + 1]; ++e) {
            const Int j = graph.ends[e];
            if (s.fixed[j]) heat += graph.weight(e) * held(j);
        }
        return heat;
    });
    for (Int i = 0; i < s.n; ++i) {
        if (s.fixed[i]) T[i] = held(i);
    }
    return T;
}

template <class T, class U>
void a_seed_that_is_freed_is_where_it_would_be_without_its_label(const Edges& edges, bool weighted,
                                                                 double leak, int threads) {
    constexpr Int K = 3;
    Sample s(edges, weighted, 0.7);
    const Graph graph = view(s.own);
    const Dense inverse = inverse_of(s, leak);
    std::vector<Int> nodes;
    Doubles own, off_at_seeds, off(s.n, 1e-6), ones, sums;
    for (Int i = 0; i < s.n; ++i) {
        if (!s.fixed[i]) continue;
        nodes.push_back(i);
        for (Int k = 0; k < K; ++k) own.push_back(dice.uniform());
    }
    const Int m = static_cast<Int>(nodes.size());
    off_at_seeds.assign(m, 0.0);
    ones.assign(m, 1.0);
    const auto place = [&](Int i) {
        return std::lower_bound(nodes.begin(), nodes.end(), i) - nodes.begin();
    };
    std::vector<T> temperatures(s.n * K);
    std::vector<U> responses(s.n * m);
    const auto held = [&](Int k) { return [&, k](Int i) { return own[place(i) * K + k]; }; };
    Doubles totals;
    const auto sum_of = [](const Doubles& x) { return std::accumulate(x.begin(), x.end(), 0.0); };
    for (Int k = 0; k < K; ++k) {
        const Doubles found = equilibrium(s, inverse, held(k));
        totals.push_back(sum_of(found));
        for (Int i = 0; i < s.n; ++i) temperatures[i * K + k] = T(found[i]);
    }
    for (Int j = 0; j < m; ++j) {
        const Doubles found = equilibrium(s, inverse, [&](Int i) { return double(i == nodes[j]); });
        for (Int i = 0; i < s.n; ++i) responses[i * m + j] = U(found[i]);
        sums.push_back(sum_of(found));
    }
    Doubles freed(m * K), errors(m), changes(m * K), change_errors(m);
    free_each(graph, leak, {m, K, nodes.data(), own.data(), off_at_seeds.data()},
              Known<T>{temperatures.data(), off.data()},
              Responses<U>{responses.data(), off.data(), ones.data(), ones.data(), sums.data(),
                           1e-6 * s.n, s.n},
              {freed.data(), errors.data(), changes.data(), change_errors.data()}, threads);
    Int compared = 0;
    for (Int j = 0; j < m; j += 5) {
        s.fixed[nodes[j]] = 0;
        s.free = s.fixed;
        reach(graph, s.free.data(), 1);
        for (Int i = 0; i < s.n; ++i) s.free[i] = s.free[i] && !s.fixed[i];
        if (s.free[nodes[j]]) {  // it was not alone
            const Dense anew = inverse_of(s, leak);
            for (Int k = 0; k < K; ++k) {
                const Doubles found = equilibrium(s, anew, held(k));
                CHECK(std::fabs(freed[j * K + k] - found[nodes[j]]) <= errors[j]);
                const double change = sum_of(found) - totals[k];
                CHECK(std::fabs(changes[j * K + k] - change) <= change_errors[j]);
            }
            compared += errors[j] < 0.01;
        }
        s.fixed[nodes[j]] = 1;
    }
    CHECK(compared > 0);
}

// --- adding up -----------------------------------------------------------------------------------

// Against the same in long double.
template <class T>
void sums_are_as_far_off_as_they_say(Int columns, Int n_terms, int threads, const Kernels* kernels) {
    const Int n = 20000;
    std::vector<T> base, terms, X(n * columns);
    Doubles shares, exits, low(columns, 0.125), high(columns, 0.875), level(columns);
    for (Int at = 0; at < n * columns; ++at) base.push_back(static_cast<T>(dice.uniform()));
    for (Int at = 0; at < n * n_terms; ++at) terms.push_back(static_cast<T>(dice.uniform()));
    for (Int at = 0; at < n_terms * columns; ++at) shares.push_back(2 * dice.uniform() - 1);
    for (Int i = 0; i < n; ++i) exits.push_back(dice.below(4) ? 0.5 + dice.uniform() : 0.0);
    const Superposition<T> sum{n,             columns,      n_terms,    base.data(), terms.data(),
                               shares.data(), exits.data(), low.data(), high.data()};
    superpose(sum, X.data(), level.data(), threads, kernels->superposer());
    for (Int k = 0; k < columns; ++k) {
        long double most = 0;
        for (Int i = 0; i < n; ++i) {
            long double exact = base[i * columns + k];
            for (Int m = 0; m < n_terms; ++m) {
                exact += static_cast<long double>(terms[m * n + i]) * shares[m * columns + k];
            }
            const T x = X[i * columns + k];
            CHECK(x >= 0.125 && x <= 0.875);
            if (exact > 0.13 && exact < 0.87) CHECK(std::fabs(x - exact) < 1e-6);
            if (exits[i] > 0) most = std::max(most, std::fabs(x - exact) / exits[i]);
        }
        CHECK(most <= level[k] && level[k] <= most + 1e-13);
    }
}

// Of several chunks of rows.
template <class T>
void evidence_does_not_depend_on_the_threads(const Kernels* kernels) {
    const Sample s(with_hub(scattered(9000, 40'000)), true, 0.1);
    for (const int columns : {1, 3, 6}) {
        std::vector<T> X(s.n * columns);
        for (T& x : X) x = static_cast<T>(dice.uniform());
        Doubles h(s.n, 0.0), alone(s.n, 0.0);
        for (Int i = 0; i < s.n; ++i) h[i] = s.free[i] ? 1 + 0.1 * dice.uniform() : 0.0;
        const Claim<double> of_h{view(s.own), s.free.data(), 0.5, nullptr, 0, h.data(), {}};
        find_drains(of_h, 1, kernels->prover(), alone.data());
        const Claim<T> claim{view(s.own), s.free.data(), 0.5, X.data(), columns, h.data(), {}};
        const Evidence first = prove(claim, 1, kernels->prover());
        for (const int threads : {2, 4}) {
            Doubles drains(s.n, 0.0);
            find_drains(of_h, threads, kernels->prover(), drains.data());
            CHECK(same_bits(drains, alone));
            for (const bool packed : {false, true}) {
                const Evidence found = prove(claim, threads, kernels->prover(), packed);
                CHECK(found.n_nodes == first.n_nodes && found.high == first.high);
                if (packed) CHECK(same_bits(found.level, first.level));
            }
        }
    }
}

}  // namespace

void test_proofs() {
    for (const int choice : {0, 1, 2, 3}) {
        const Edges nothing_free{3, {}, {}, {}};
        for (const Edges& edges :
             {nothing_free, path(30), scattered(50, 150), with_hub(scattered(301, 100))}) {
            test_proof(edges, choice & 1, choice & 2 ? 0.05 : 0.0);
        }
    }
    for (const Kernels* const kernels : all_kernels()) {
        for (const bool weighted : {false, true}) {
            an_entry_that_leads_outside_is_refused<float>(weighted, kernels);
            an_entry_that_leads_outside_is_refused<double>(weighted, kernels);
        }
    }
}

void test_proofs_on_threads() {
    for (const Kernels* const kernels : all_kernels()) {
        evidence_does_not_depend_on_the_threads<float>(kernels);
        evidence_does_not_depend_on_the_threads<double>(kernels);
    }
    for (const int threads : {1, 2, 4}) {
        for (const int choice : {0, 1, 2, 3}) {
            const bool weighted = choice & 1, is_float = dice.below(2);
            const auto test_freed =
                is_float ? &a_seed_that_is_freed_is_where_it_would_be_without_its_label<float, double>
                         : &a_seed_that_is_freed_is_where_it_would_be_without_its_label<double, float>;
            test_freed(scattered(120, 250), weighted, choice & 2 ? 0.05 : 0.0, threads);
        }
        for (const Int columns : {1, 3, 10, 17}) {
            for (const Int n_terms : {0, 1, 4}) {
                for (const Kernels* const kernels : all_kernels()) {
                    sums_are_as_far_off_as_they_say<float>(columns, n_terms, threads, kernels);
                    sums_are_as_far_off_as_they_say<double>(columns, n_terms, threads, kernels);
                }
            }
        }
    }
}

}  // namespace isotherm
