#include "steering.hpp"
#include "test_core.hpp"

namespace isotherm {
namespace {

// A problem, and all that a solve of it takes.
struct Setup {
    Graph graph;
    std::vector<std::uint8_t> free;
    Doubles degrees, ties;
    double leak = 0;
    int threads = 1;
    bool peeling = true, reduced = true;
    const Kernels* kernels = &best_kernels();

    explicit Setup(const Sample& s) : graph(view(s.own)), free(s.free), degrees(s.degrees) {}
    std::unique_ptr<Problem> problem() const {
        return std::make_unique<Problem>(graph, free.data(), degrees.data(),
                                         ties.empty() ? nullptr : ties.data(), leak, true, peeling,
                                         threads, *kernels, reduced);
    }
};

template <class T>
struct Solved {
    std::vector<T> X;
    Doubles h;
    State state{};
    double likely = 0;
};

// Of so many columns, from what X has at the boundary.
template <class T>
Solved<T> solve(Problem& problem, const std::vector<T>& X, int columns, double tol,
                Preconditioner preconditioner, const Sources* sources = nullptr,
                std::int64_t max_steps = 10'000) {
    Solved<T> out{X, Doubles(problem.M().graph.n_nodes, 0.0)};
    ExitTimes exits;
    exits.h = out.h.data();
    const Doubles low(columns, 0.0), high(columns, 1.0), scale(columns, 1.0);
    Steering steering(problem, exits, {0, columns, true, false}, sources, low.data(), high.data(),
                      scale.data(), max_steps, preconditioner);
    const Columns<T> all{out.X.data(), columns, columns};
    out.state = steering.run<T>(all, true, {tol, 0.0, 100.0});
    steering.settle<T>(all, true);
    out.likely = steering.likely();
    return out;
}

// Temperatures to begin with.
template <class T>
std::vector<T> boundary_of(const Sample& s, int columns) {
    std::vector<T> X(s.n * columns, 0);
    for (Int i = 0; i < s.n; ++i) {
        for (Int k = 0; k < columns; ++k) X[i * columns + k] = s.fixed[i] && (i + k) % 3 == 0;
    }
    return X;
}

// --- ties ----------------------------------------------------------------------------------------

// Some free nodes are tied to temperatures, with and without edges, in components with and without
// seeds; against dense inverses, and what is proven of the answer.
template <class T>
void ties_hold_their_nodes(const Edges& edges, double leak, int choice, const Kernels* kernels) {
    constexpr int K = 3;
    Sample s(edges, true, 0.1);
    Doubles ties(s.n, 0.0), known;
    std::vector<std::int32_t> tied, row_of(s.n, -1);
    s.free = s.fixed;
    for (Int i = 0; i < s.n; ++i) {
        if (s.fixed[i] || dice.below(3)) continue;
        ties[i] = 0.1 + 2 * dice.uniform();
        s.free[i] = 1;
        s.degrees[i] += ties[i] / (1 + leak);
        row_of[i] = static_cast<std::int32_t>(tied.size());
        tied.push_back(static_cast<std::int32_t>(i));
        for (int k = 0; k < K; ++k) known.push_back(dice.uniform());
    }
    reach(view(s.own), s.free.data(), 1);
    for (Int i = 0; i < s.n; ++i) s.free[i] = s.free[i] && !s.fixed[i];
    Setup setup(s);
    setup.ties = ties;
    setup.leak = leak;
    setup.peeling = choice & 1;
    setup.reduced = choice & 2;
    setup.threads = 2;
    setup.kernels = kernels;
    const auto problem = setup.problem();
    Doubles rows, weights;
    for (std::size_t t = 0; t < tied.size(); ++t) {
        weights.push_back(ties[tied[t]]);
        for (int k = 0; k < K; ++k) rows.push_back(ties[tied[t]] * known[t * K + k]);
    }
    const Sources sources(s.n, problem->peel(), static_cast<Int>(tied.size()), tied.data(),
                          rows.data(), K);
    const auto X = boundary_of<T>(s, K);
    const Dense inverse = inverse_of(s, leak);
    const Doubles drained = solved(s, inverse, [&](Int i) { return s.degrees[i]; });
    const double tol = sizeof(T) == 4 ? 1e-4 : 1e-9;
    for (const auto preconditioner : {Preconditioner::diagonal, Preconditioner::factor}) {
        const auto out = solve(*problem, X, K, tol, preconditioner, &sources);
        CHECK(out.state == State::reached || out.state == State::short_of_digits);
        const Claim<T> claim{setup.graph, s.free.data(),
                             leak,       out.X.data(),
                             K,          drained.data(),
                             {row_of.data(), weights.data(), known.data(), 1.0}};
        const Evidence found = prove(claim, 2, kernels->prover());
        Int n_free = 0;
        for (Int i = 0; i < s.n; ++i) n_free += s.free[i];
        CHECK(found.n_nodes == n_free && !found.stray);
        for (int k = 0; k < K; ++k) {
            const Doubles x = solved(s, inverse, [&](Int i) {
                double heat = row_of[i] >= 0 ? rows[row_of[i] * K + k] : 0.0;
                for (Int e = setup.graph.start[i]; e < setup.graph.start[i + 1]; ++e) {
                    const Int j = setup.graph.ends[e];
                    if (s.fixed[j]) heat += setup.graph.weight(e) * X[j * K + k];
                }
                return heat;
            });
            for (Int i = 0; i < s.n; ++i) {
                if (!s.free[i]) continue;
                const double error = std::fabs(out.X[i * K + k] - x[i]);
                CHECK(error <= 10 * tol && error <= found.level[k] * drained[i] + 1e-12);
            }
            CHECK(found.level[k] <= (sizeof(T) == 4 ? 1e-3 : 1e-8));
        }
    }
}

// --- interruption --------------------------------------------------------------------------------

Int times_polled, polled_to_stop;

bool stops_once() { return ++times_polled == polled_to_stop; }

// Interrupted while it is made ready, in steps, as its rows get another order, amid the elimination
// that makes a factor, and in the steps with that: then the problem is solved once more, as it was left.
void what_is_interrupted_can_be_solved_again(bool reduced, int threads) {
    constexpr int K = 3;
    const Sample s(scattered(20'000, 60'000), true, 0.02);
    Setup setup(s);
    setup.reduced = reduced;
    setup.threads = threads;
    const auto X = boundary_of<float>(s, K);
    std::unique_ptr<Problem> problem;
    Solved<float> found;
    std::vector<Int> polls;  // at the end of each stage
    const auto all_of_it = [&] {
        problem = setup.problem();
        polls = {0, times_polled};
        solve(*problem, X, K, 1e-3, Preconditioner::diagonal);
        polls.push_back(times_polled);
        problem->reorder();
        polls.push_back(times_polled);
        problem->factor();
        polls.push_back(times_polled);
        found = solve(*problem, X, K, 1e-5, Preconditioner::factor);
        polls.push_back(times_polled);
    };
    times_polled = polled_to_stop = 0;
    set_poll(&stops_once, std::chrono::milliseconds(0));
    all_of_it();
    const auto ends = polls;
    const auto expected = found;
    CHECK(expected.likely <= 1e-4);
    for (std::size_t stage = 1; stage < ends.size(); ++stage) {
        const Int first = ends[stage - 1] + 1, last = ends[stage];
        CHECK(first < last || threads > 1);
        for (const Int when : {first, (first + last) / 2, last}) {
            if (threads > 1 && when != (first + last) / 2) continue;  // for the sake of time
            problem = nullptr;
            times_polled = 0;
            polled_to_stop = when;
            // Of several threads, only one asks, after what it has done itself: how often, depends.
            CHECK(throws<Interrupted>(all_of_it) || threads > 1);
            CHECK(threads > 1 || (problem == nullptr) == (stage == 1));
            polled_to_stop = 0;
            if (!problem) problem = setup.problem();
            for (const auto preconditioner : {Preconditioner::diagonal, Preconditioner::factor}) {
                const auto again = solve(*problem, X, K, 1e-5, preconditioner);
                CHECK(again.state == State::reached || again.state == State::short_of_digits);
                for (std::size_t at = 0; at < X.size(); ++at) {
                    CHECK(std::fabs(again.X[at] - expected.X[at]) <= 1e-3);
                }
            }
        }
    }
    set_poll(nullptr);
}

// --- what no graph has, and no number ------------------------------------------------------------

// Rows whose entries lead to nodes, but not both ways; some in order, some not.
void no_arrays_take_a_solve_out_of_its_memory(Int n, int kind) {
    constexpr int K = 3;
    const Int m = n * (1 + dice.below(6));
    std::vector<std::vector<std::int32_t>> rows(n);
    const Int hubs = kind == 1 ? 1 + n / 10 : n;
    for (Int e = 0; e < m; ++e) {
        const Int i = dice.below(n), j = dice.below(hubs);
        rows[i].push_back(static_cast<std::int32_t>(j));
        // Nearly all of them both ways.
        if (kind == 2 && dice.below(500)) rows[j].push_back(static_cast<std::int32_t>(i));
    }
    std::vector<Int> start{0};
    std::vector<std::int32_t> ends;
    Doubles weights, degrees;
    for (auto& row : rows) {
        std::sort(row.begin(), row.end());
        if (kind != 3) row.erase(std::unique(row.begin(), row.end()), row.end());
        ends.insert(ends.end(), row.begin(), row.end());
        start.push_back(static_cast<Int>(ends.size()));
    }
    const double sizes[] = {1, 1, 1e-300, 1e300, nan};
    for (std::size_t e = 0; e < ends.size(); ++e) weights.push_back(sizes[dice.below(5)]);
    std::vector<std::uint8_t> free;
    const Int among = dice.below(2) ? 20 : 2;
    for (Int i = 0; i < n; ++i) {
        degrees.push_back(static_cast<double>(start[i + 1] - start[i]));
        free.push_back(dice.below(among) > 0);
    }
    const Graph graph{n, start.data(), ends.data(), dice.below(2) ? weights.data() : nullptr};
    std::vector<float> X(n * K);
    for (Int at = 0; at < n * K; ++at) X[at] = !free[at / K] && at % 2;
    const auto kernels = all_kernels();
    try {
        Problem problem(graph, free.data(), degrees.data(), nullptr, dice.below(2) ? 0.1 : 0.0,
                        dice.below(2), dice.below(3), 2, *kernels[dice.below(Int(kernels.size()))],
                        dice.below(3));
        if (dice.below(2)) problem.reorder();
        const Preconditioner all[] = {Preconditioner::diagonal, Preconditioner::factor,
                                      Preconditioner::automatic};
        const auto out = solve(problem, X, K, 1e-6, all[dice.below(3)], nullptr, 30);
        const Claim<float> claim{graph, free.data(), 0.0, out.X.data(), K, out.h.data(), {}};
        prove(claim, 2, kernels[0]->prover());
    } catch (const BadGraph&) {
    }
}

// A NaN or an infinity at a seed, or in what is put in, is never taken for an answer.
template <class T>
void what_is_no_number_is_never_an_answer(int columns, bool reduced, const Kernels* kernels) {
    const Sample s(with_hub(scattered(500, 2000)), true, 0.1);
    Setup setup(s);
    setup.reduced = reduced;
    setup.kernels = kernels;
    const Int seed = std::find(s.fixed.begin(), s.fixed.end(), 1) - s.fixed.begin();
    const Int at = std::find(s.free.begin(), s.free.end(), 1) - s.free.begin();
    const auto is_warm = [&](Int i) {  // has a neighbour that is free
        const Graph& graph = setup.graph;
        return std::any_of(graph.ends + graph.start[i], graph.ends + graph.start[i + 1],
                           [&](std::int32_t j) { return s.free[j] != 0; });
    };
    CHECK(is_warm(seed));
    for (const double bad : {nan, infinity, -infinity}) {
        for (const bool put_in : {false, true}) {
            for (const auto preconditioner : {Preconditioner::diagonal, Preconditioner::factor}) {
                const auto problem = setup.problem();
                auto X = boundary_of<T>(s, columns);
                const int k = columns / 2;
                if (!put_in) X[seed * columns + k] = static_cast<T>(bad);
                const std::vector<std::int32_t> nodes{static_cast<std::int32_t>(at)};
                Doubles row(columns, 0.0);
                row[k] = bad;
                const Sources sources(s.n, problem->peel(), 1, nodes.data(), row.data(), columns);
                const auto out = solve(*problem, X, columns, 1e-4, preconditioner,
                                       put_in ? &sources : nullptr, 50);
                CHECK(!(out.likely < 1e300));
            }
        }
        // The same of temperatures that are weighed, by the first of several columns.
        const auto problem = setup.problem();
        auto out = solve(*problem, boundary_of<T>(s, columns), columns, 1e-4, Preconditioner::diagonal);
        CHECK(out.likely <= 1e-4);
        out.X[seed * columns] = static_cast<T>(bad);
        ExitTimes exits;
        exits.h = out.h.data();
        const Doubles low(columns, 0.0), high(columns, 1.0), scale(columns, 1.0);
        Steering steering(*problem, exits, {0, columns, true, false}, nullptr, low.data(), high.data(),
                          scale.data(), 100, Preconditioner::diagonal);
        steering.run<T>({out.X.data(), columns, columns}, false, {1e-4, 0.0, 100.0});
        CHECK(!(steering.likely() < 1e300));
    }
}

}  // namespace

void test_steering() {
    for (const Kernels* const kernels : all_kernels()) {
        for (const int choice : {0, 1, 2, 3}) {
            for (const Edges& edges : {scattered(60, 60), with_hub(scattered(301, 200))}) {
                for (const double leak : {0.0, 0.05}) {
                    ties_hold_their_nodes<float>(edges, leak, choice, kernels);
                    ties_hold_their_nodes<double>(edges, leak, choice, kernels);
                }
            }
        }
        for (const int columns : {1, 2, 5, 15}) {
            for (const bool reduced : {false, true}) {
                what_is_no_number_is_never_an_answer<float>(columns, reduced, kernels);
                what_is_no_number_is_never_an_answer<double>(columns, reduced, kernels);
            }
        }
    }
    for (const int kind : {0, 1, 2, 3}) {
        for (const Int n : {2, 5, 30, 300, 3000}) {
            for (int k = 0; k < (n < 3000 ? 20 : 4); ++k) no_arrays_take_a_solve_out_of_its_memory(n, kind);
        }
    }
    what_is_interrupted_can_be_solved_again(true, 1);
    what_is_interrupted_can_be_solved_again(false, 1);
}

void test_interrupts_on_threads() { what_is_interrupted_can_be_solved_again(true, 4); }

}  // namespace isotherm
