#include "descent.hpp"
#include "factor.hpp"
#include "steering.hpp"
#include "test_core.hpp"

namespace isotherm {
namespace {

struct Options {
    int columns;
    bool exits, hidden, factor, peeling, root;
    double leak;
    int threads;
    const Kernels* kernels;
    bool reduced = true;
    bool reordered = false;  // amid the steps

    int count() const { return columns + hidden; }
    // Each row of X begins with a number that is none of its columns; after the last row comes
    // memory that is not ours.
    Int stride() const { return count() + 1; }
};

Problem problem_of(const Sample& s, const Options& o) {
    return Problem(view(s.own), s.free.data(), s.degrees.data(), nullptr, o.leak, o.root, o.peeling,
                   o.threads, *o.kernels, o.reduced);
}

// Temperatures to begin with, the same in float as in double.
struct Boundary {
    Doubles values, low, high, scale;

    Boundary(const Sample& s, const Options& o)
        : low(o.count(), o.leak > 0 ? 0.0 : infinity),
          high(o.count(), o.leak > 0 ? 0.0 : -infinity) {
        const bool one_sign = o.hidden || dice.below(2);
        for (Int i = 0; i < s.n; ++i) {
            values.push_back(nan);
            const Int hot = dice.below(std::max(1, o.count()));
            for (int k = 0; k < o.count(); ++k) {
                double t = static_cast<double>(dice.below(129)) / 64 - (one_sign ? 0 : 1);
                if (k == 2) t = 0;  // a lane without any heat
                if (o.hidden) t = k == hot;
                // A node out of reach has none: who reads it shall not go unnoticed.
                values.push_back(s.free[i] ? 0.0 : s.fixed[i] ? t : nan);
                if (!s.fixed[i]) continue;
                low[k] = std::min(low[k], t);
                high[k] = std::max(high[k], t);
            }
        }
        for (int k = 0; k < o.count(); ++k) {
            scale.push_back(high[k] > low[k] ? high[k] - low[k] : 1.0);
        }
    }
};

template <class T>
void fresh_levels_are_those_of_the_residual(const Operator& M, const Columns<T>& X, bool hidden,
                                            const double* h, const Levels& found) {
    for (int k = 0; k < X.count + (h != nullptr); ++k) {
        const bool is_hidden = hidden && k == X.count - 1;  // as it is before it is rounded or clipped
        long double most = 0;
        for (Int i = 0; i < M.graph.n_nodes; ++i) {
            if (M.kind[i] == held) continue;
            long double r = is_hidden ? 0 : residual(M, i, X, k, h);
            for (int l = 0; is_hidden && l < k; ++l) r += residual(M, i, X, l, h);
            most = std::max(most, std::fabs(r) / gauge(M, i));
        }
        const double level = k < X.count ? found.columns[k] : found.exits;
        CHECK(std::fabs(double(most) - level) <= 1e-10 * (1 + level));
    }
}

// Also where the lane of h is idle, and where h is too long for it.
template <class T>
void weighing_does_not_depend_on_the_lane_of_h(Descent& descent, const Operator& M, const Columns<T>& X,
                                               bool hidden, const Doubles& h, const Doubles& scale) {
    fresh_levels_are_those_of_the_residual(M, X, hidden, nullptr,
                                           descent.weigh(X, nullptr, scale.data()));
    Doubles longer(h);
    for (double& time : longer) time *= 1e7;
    const Levels found = descent.weigh(X, longer.data(), scale.data());
    fresh_levels_are_those_of_the_residual(M, X, hidden, longer.data(), found);
}

template <class T>
void levels_are_those_of_the_residual(const Operator& M, const Columns<T>& X, const double* h,
                                      const Options& o, const Doubles& scale, const float* levels) {
    double expected[max_width + 1] = {};
    for (Int i = 0; i < M.graph.n_nodes; ++i) {
        if (M.kind[i] != moving) continue;
        double sum = 0;
        for (int k = 0; k < o.columns + o.exits; ++k) {
            const bool is_h = k == o.columns;
            const auto r = double(residual(M, i, X, is_h ? X.count : k, h)) / (is_h ? 1 : scale[k]);
            expected[k] = std::max(expected[k], std::fabs(r) / gauge(M, i));
            if (!is_h) sum += r;
        }
        double& hidden = expected[max_width];
        if (o.hidden) hidden = std::max(hidden, std::fabs(sum) / gauge(M, i));
    }
    // The recurrence is in float: what it may be off by grows with the numbers of its lane.
    const double longest = h ? *std::max_element(h, h + M.graph.n_nodes) : 0.0;
    for (int l = 0; l <= max_width; ++l) {
        const double slack = 1e-4 + (l == o.columns && o.exits ? 1e-6 * longest : 0.0);
        CHECK(levels[l] >= expected[l] - slack);
        CHECK(o.peeling || levels[l] <= expected[l] + slack);  // a parent's may be overestimated
    }
}

// The hidden column follows from the others.
template <class T>
void complete(const Operator& M, const Columns<T>& X) {
    for (Int i = 0; i < M.graph.n_nodes; ++i) {
        if (M.kind[i] == held) continue;
        T* const row = X.first + i * X.stride;
        double rest = 1;
        for (int k = 0; k < X.count - 1; ++k) rest -= row[k];
        row[X.count - 1] = static_cast<T>(std::max(rest, 0.0));
    }
}

template <class T>
struct Outcome {
    std::vector<T> X;
    Doubles h;
    Levels found;
};

// Rounds of steps, each from a fresh residual, as the solvers go about it.
template <class T>
Outcome<T> solve(Problem& problem, const Boundary& boundary, const Options& o, int rounds) {
    const Operator& M = problem.M();
    Outcome<T> out{{boundary.values.begin(), boundary.values.end()}, {}, {}};
    out.h.resize(M.graph.n_nodes);
    double* const h = o.exits ? out.h.data() : nullptr;
    const Columns<T> X{out.X.data() + 1, o.stride(), o.count()};
    const Columns<T> iterated{X.first, X.stride, o.columns};
    Descent descent(problem, o.columns, o.exits, o.hidden);
    if (o.factor) descent.precondition(problem.factor());
    CHECK(descent.lanes() == o.columns + o.exits);
    // A beginning is from 0 at moving nodes; what is peeled off has its exit times already.
    descent.settle(Columns<T>{X.first, X.stride, o.columns}, h, boundary.low.data(),
                   boundary.high.data(), false);
    float target = 1;
    for (int round = 0;; ++round) {
        if (round == 0) {
            descent.begin(iterated, boundary.scale.data());
        } else {
            if (h && round == rounds) {
                weighing_does_not_depend_on_the_lane_of_h(descent, M, X, o.hidden, out.h, boundary.scale);
            }
            out.found = descent.weigh(X, h, boundary.scale.data());
            fresh_levels_are_those_of_the_residual(M, X, o.hidden, h, out.found);
        }
        if (round == rounds) return out;
        target *= 1e-6f;
        float levels[max_width + 1] = {1};
        for (int k = 0; k < 200 && *std::max_element(levels, levels + max_width) > target; ++k) {
            descent.step(iterated, h, levels);
            if (o.reordered && round == 0 && k == 0) {
                const std::vector<std::int32_t> before = problem.reorder();
                CHECK(before.empty() == (!o.reduced || problem.system().n_rows == 0));
                if (before.empty()) {  // it has an order of its own only now: X is weighed again
                    ++rounds;
                    target = 1;
                    break;
                }
                descent.follow(before);
            }
            if (k == 1) {
                const Doubles low(o.columns, -1e9), high(o.columns, 1e9);
                descent.settle(iterated, h, low.data(), high.data(), false);
                levels_are_those_of_the_residual(M, X, h, o, boundary.scale, levels);
            }
        }
        descent.settle(iterated, h, boundary.low.data(), boundary.high.data(), true);
        if (o.hidden) complete(M, X);
    }
}

template <class T>
void steps_lead_to_equilibrium(const Sample& s, const Dense& inverse, const Options& o) {
    Problem problem = problem_of(s, o);
    const Operator& M = problem.M();
    constexpr bool fine = sizeof(T) == 8;
    const Outcome<T> out = solve<T>(problem, Boundary(s, o), o, 2);
    const Doubles h = solved(s, inverse, [&](Int i) { return gauge(M, i); });
    for (int k = 0; k < o.count(); ++k) {
        const auto at = [&](Int i) { return out.X[i * o.stride() + 1 + k]; };
        const Doubles x = solved(s, inverse, [&](Int i) {
            return double(inflow(M, i, [&](Int j) { return s.free[j] ? T(0) : at(j); }));
        });
        const double level = out.found.columns[k];
        CHECK(level <= (fine ? 1e-9 : 1e-4));
        for (Int i = 0; i < s.n; ++i) {
            const double error = s.free[i] ? std::fabs(at(i) - x[i]) : 0.0;
            CHECK(error <= (fine ? 1e-8 : 1e-3));
            CHECK(error <= level * h[i] + (o.hidden ? 1e-5 : 1e-10));
        }
    }
    for (Int i = 0; i < s.n; ++i) CHECK(std::isnan(out.X[i * o.stride()]));
    const double eta = out.found.exits, longest = *std::max_element(h.begin(), h.end());
    for (Int i = 0; o.exits && i < s.n; ++i) {
        CHECK(eta < 0.01 && out.h[i] / (1 - std::max(eta, 0.0)) >= h[i] * (1 - 1e-9));
        CHECK(std::fabs(out.h[i] - h[i]) <= 1e-3 * longest);
    }
}

// Also from nodes that were peeled off.
template <class T>
void heat_put_in_spreads_to_equilibrium(const Sample& s, const Dense& inverse, const Options& o) {
    constexpr int all = 5, first = 2, count = all - first;
    Problem problem = problem_of(s, o);
    std::vector<std::int32_t> nodes;
    Doubles rows;
    for (Int i = 0; i < s.n; ++i) {
        if (!s.free[i] || dice.below(4)) continue;
        nodes.push_back(static_cast<std::int32_t>(i));
        for (int k = 0; k < all; ++k) rows.push_back(s.degrees[i] * dice.uniform());
    }
    const Sources sources(s.n, problem.peel(), static_cast<Int>(nodes.size()), nodes.data(),
                          rows.data(), all);
    const Heat given = sources.given(first);
    std::vector<T> X(s.n * count, 0);
    const Columns<T> columns{X.data(), count, count};
    const Doubles scale(count, 1.0), low(count, -1e9), high(count, 1e9);
    Descent descent(problem, count, false, false, &sources, first);
    if (o.factor) descent.precondition(problem.factor());
    for (int round = 0; round < 2; ++round) {
        if (round == 0) descent.begin(columns, scale.data());
        else descent.weigh(columns, nullptr, scale.data());
        float levels[max_width + 1] = {1};
        for (int k = 0; k < 200 && *std::max_element(levels, levels + count) > 1e-6f; ++k) {
            descent.step(columns, nullptr, levels);
        }
        descent.settle(columns, nullptr, low.data(), high.data(), true);
    }
    for (int k = 0; k < count; ++k) {
        const Doubles x = solved(s, inverse, [&](Int i) {
            return given.at(i) ? given.at(i)[k] : 0.0;
        });
        const double most = *std::max_element(x.begin(), x.end());
        for (Int i = 0; i < s.n; ++i) {
            if (s.free[i]) CHECK(std::fabs(X[i * count + k] - x[i]) <= 1e-3 * (1 + most));
        }
    }
}

void folded_nodes_follow_from_the_others(const Sample& s, const Dense& inverse, const Options& o) {
    const Problem problem = problem_of(s, o);
    const Operator& M = problem.M();
    const Fold& fold = problem.fold();
    const Doubles h = solved(s, inverse, [&](Int i) { return gauge(M, i); });
    const auto b = [&](Int i) {
        return double(inflow(M, i, [&](Int j) { return s.free[j] ? 0.0 : double(j % 7); }));
    };
    const Doubles x = solved(s, inverse, b);
    Doubles heat(s.n, 0.0);
    auto kind = s.free;
    for (Int k = 0; k < fold.size(); ++k) {
        const Int i = fold.nodes[k];
        CHECK(kind[i] == moving);
        kind[i] = peeled;
        heat[i] += b(i);
        double value = heat[i] * fold.inverse_pivots[k], time = fold.rise[k];
        for (Int e = fold.start[k]; e < fold.start[k + 1]; ++e) {
            CHECK(kind[fold.ends[e]] == moving);
            value += fold.ratios[e] * x[fold.ends[e]];
            time += fold.ratios[e] * h[fold.ends[e]];
            heat[fold.ends[e]] += fold.ratios[e] * heat[i];
        }
        CHECK(std::fabs(x[i] - value) <= 1e-9 * (1 + x[i]));
        CHECK(std::fabs(h[i] - time) <= 1e-9 * (1 + h[i]));
    }
    // Where folding does not pay, trees alone are peeled.
    CHECK(fold.empty() || problem.peel().child.empty());
    for (const Int i : problem.peel().child) kind[i] = peeled;
    CHECK(std::equal(kind.begin(), kind.end(), M.kind));
    CHECK(o.peeling || fold.empty());
}

// A reduced system is the graph's own, seen from fewer nodes: M x = b with the heat passed on.
void what_is_left_has_the_same_equilibrium(const Sample& s, const Dense& inverse, const Options& o) {
    Problem problem = problem_of(s, o);
    if (o.reordered) problem.reorder();
    const System& left = problem.system();
    for (Int i = 0; i < s.n; ++i) {
        const Int r = problem.row_of(i);
        CHECK(problem.M().kind[i] == moving ? problem.node_of(r) == i : r == -1);
    }
    const Operator& M = problem.M();
    const Doubles x = solved(s, inverse, [&](Int i) { return gauge(M, i); });
    Doubles passed(s.n, 0.0);
    for (std::size_t k = 0; k < problem.peel().child.size(); ++k) {
        const Int i = problem.peel().child[k];
        passed[problem.peel().parent[k]] += problem.peel().ratio[k] * (gauge(M, i) + passed[i]);
    }
    for (Int r = 0; r < left.n_rows; ++r) {
        const Int i = problem.nodes()[r];
        double flow = 0;
        for (Int e = left.start[r]; e < left.start[r + 1]; ++e) {
            const double w = left.weights ? left.weights[e] : left.weight_unit;
            flow += w * x[problem.nodes()[left.ends[e]]];
        }
        double b = gauge(M, i) + passed[i];
        if (!problem.fold().empty()) b += problem.fold().received[i];
        const double expected = left.mass[r] * x[i] - flow;
        CHECK(std::fabs(b / M.largest_pivot - expected) <= 1e-5 * (left.mass[r] * x[i] + flow));
    }
}

void peeled_nodes_follow_their_parents(const Sample& s, const Dense& inverse, const Options& o) {
    const Problem problem = problem_of(s, o);
    const Operator& M = problem.M();
    const Peel& peel = problem.peel();
    const Doubles h = solved(s, inverse, [&](Int i) { return gauge(M, i); });
    const Doubles x = solved(s, inverse, [&](Int i) {
        return double(inflow(M, i, [&](Int j) { return s.free[j] ? 0.0 : double(j % 7); }));
    });
    auto kind = s.free;
    for (std::size_t k = 0; k < peel.child.size(); ++k) {
        const Int i = peel.child[k], p = peel.parent[k];
        CHECK(kind[i] == moving && kind[p] == moving);
        kind[i] = peeled;
        CHECK(std::fabs(x[i] - peel.ratio[k] * x[p]) <= 1e-9);
        CHECK(std::fabs(h[i] - peel.rise[k] - peel.ratio[k] * h[p]) <= 1e-9 * (1 + h[i]));
    }
    CHECK(std::equal(kind.begin(), kind.end(), M.kind));
    CHECK(o.peeling || peel.child.empty());
}

template <class T>
void settling_clips_and_fills_peeled_nodes(const Sample& s, const Options& o) {
    const Problem problem = problem_of(s, o);
    const std::uint8_t* const kind = problem.M().kind;
    const Peel& peel = problem.peel();
    const int K = o.columns;
    const Doubles low(K, 0.25), high(K, 0.75);
    std::vector<T> X(s.n * K);
    for (T& t : X) t = static_cast<T>(dice.uniform());
    auto expected = X;
    for (Int at = 0; at < s.n * K; ++at) {
        if (kind[at / K] == moving) expected[at] = std::clamp(X[at], T(0.25), T(0.75));
    }
    Doubles h(s.n, 2.0);
    problem.settle(Columns<T>{X.data(), K, K}, h.data(), low.data(), high.data(), {}, nullptr);
    for (std::size_t k = peel.child.size(); k-- > 0;) {
        const Int i = peel.child[k], p = peel.parent[k];
        for (int l = 0; l < K; ++l) {
            const T implied = T(peel.ratio[k] * expected[p * K + l]);
            expected[i * K + l] = std::clamp(implied, T(0.25), T(0.75));
        }
        CHECK(std::fabs(h[i] - peel.rise[k] - peel.ratio[k] * h[p]) <= 1e-12 * h[i]);
    }
    CHECK(X == expected);
    for (Int i = 0; i < s.n; ++i) CHECK(kind[i] == peeled || h[i] == 2);
}

void what_needs_no_draws_is_factorised_exactly(const Edges& edges, int threads,
                                               const Kernels* kernels) {
    const Sample s(edges, true, 0.0);
    const Options plain{1, false, false, true, false, false, 0.0, threads, kernels};
    Problem problem = problem_of(s, plain);
    const Dense inverse = inverse_of(s, 0.0);
    const std::shared_ptr<const Factor> factor = problem.factor();
    const System& M = problem.system();
    for (int lanes = 1; lanes <= max_width; ++lanes) {
        std::vector<float> Z(M.n_rows * lanes), V(M.n_rows * lanes);
        Doubles by_node(s.n * lanes, 0.0);
        for (Int at = 0; at < M.n_rows * lanes; ++at) {
            Z[at] = static_cast<float>(dice.uniform());
            by_node[problem.nodes()[at / lanes] * lanes + at % lanes] = Z[at];
        }
        Buffer<float> room;
        Vectors x{};
        x.Z = Z.data();
        x.V = V.data();
        x.width = max_width;
        x.lanes = x.stride = x.columns = lanes;
        for (int twice = 0; twice < 2; ++twice) factor->solve(x, M, *kernels, threads, room);
        for (int l = 0; l < lanes; ++l) {
            const Doubles y =
                solved(s, inverse, [&](Int i) { return s.degrees[i] * by_node[i * lanes + l]; });
            for (Int row = 0; row < M.n_rows; ++row) {
                const double expected = y[problem.nodes()[row]];
                CHECK(std::fabs(V[row * lanes + l] - expected) <= 1e-4 * (1 + expected));
            }
        }
    }
}

// Of a node whose number times that of the columns is beyond 32 bits: the arrays are as if they began so
// far before the few rows that there are.
template <class T>
void nodes_of_great_numbers_are_found(int columns, const Kernels* kernels) {
    constexpr Int last = (Int{1} << 31) - 2, first = last - 3;
    const auto from = [&](auto* rows, Int stride) {
        using Pointer = decltype(rows);
        const auto before = static_cast<std::uintptr_t>(first * stride) * sizeof *rows;
        return reinterpret_cast<Pointer>(reinterpret_cast<std::uintptr_t>(rows) - before);
    };
    Fold fold;
    fold.nodes = {static_cast<std::int32_t>(first + 1), static_cast<std::int32_t>(last)};
    fold.start = {0, 1, 3};
    fold.ends = {static_cast<std::int32_t>(last), static_cast<std::int32_t>(first),
                 static_cast<std::int32_t>(first + 2)};
    fold.ratios = {0.5, 0.25, 0.5};
    fold.inverse_pivots = {0.5, 0.25};
    fold.rise = {1, 2};
    const Int stride = columns + 1;
    std::vector<T> X(4 * stride, T(0.5));
    Doubles folded(4 * columns, 0.0), h(4, 4.0), low(columns, -100.0), high(columns, 100.0);
    for (int l = 0; l < columns; ++l) {
        folded[1 * columns + l] = 2 * l;
        folded[3 * columns + l] = 4 * l + 4;
    }
    auto expected = X;
    for (int l = 0; l < columns; ++l) {
        expected[3 * stride + l] = T(l + 1 + 0.375);
        expected[1 * stride + l] = T(l + 0.5 * (l + 1.375));
    }
    const Columns<T> there{from(X.data(), stride), stride, columns};
    const auto hang = [&] {
        if constexpr (sizeof(T) == 4) return kernels->hang_f;
        else return kernels->hang_d;
    }();
    hang(fold.view(), there, from(h.data(), 1), low.data(), high.data(), from(folded.data(), columns));
    CHECK(X == expected);
    CHECK((h == Doubles{4, 3.5, 4, 5}));
}

void the_pace_foretells_the_steps_of_a_geometric_fall() {
    Pace pace;
    for (int step = 1; step < 60; ++step) {
        const double left = pace.steps_left(std::pow(0.9, step), [] { return 1e-12; });
        const double expected = std::log(1e-12) / std::log(0.9) - step;
        CHECK(pace.steps() == static_cast<std::size_t>(step));
        if (step == 8 || step == 16 || step == 32) CHECK(std::fabs(left - expected) <= 0.01 * expected);
        else CHECK(left == 0);
    }
}

template <class T>
void answers_do_not_depend_on_the_threads(bool factor, const Kernels* kernels) {
    const Sample s(with_hub(scattered(6000, 20000)), true, 0.1);  // several chunks of rows
    Options o{5, true, false, factor, true, true, 0.0, 1, kernels};
    o.reordered = !factor;
    const Boundary boundary(s, o);
    Problem own = problem_of(s, o);
    const auto alone = solve<T>(own, boundary, o, 1);
    for (const int threads : {2, 4}) {
        o.threads = threads;
        Problem shared = problem_of(s, o);
        const auto out = solve<T>(shared, boundary, o, 1);
        CHECK(same_bits(out.X, alone.X) && same_bits(out.h, alone.h));
        CHECK(std::memcmp(&out.found, &alone.found, sizeof out.found) == 0);
    }
}

// Heat from one node alone, which is followed as it spreads, against the same next to a column whose
// heat is everywhere. Lanes have nothing to do with each other, but all nodes are lifted later.
void heat_is_followed_without_loss(const Edges& edges, bool weighted, int columns, bool reduced,
                                   int steps, const Kernels* kernels) {
    const Sample s(edges, weighted, 0.05);
    const Options o{columns, false, false, false, true, true, 0.0, 2, kernels, reduced};
    const auto first_free = std::find(s.free.begin() + s.n / 2, s.free.end(), 1) - s.free.begin();
    const Doubles scale(columns, 1.0);
    std::vector<float> seen[2];
    for (const bool everywhere : {false, true}) {
        Problem problem = problem_of(s, o);
        std::vector<std::int32_t> nodes;
        Doubles rows;
        for (Int i = 0; i < s.n; ++i) {
            if (!s.free[i] || (i != first_free && !everywhere)) continue;
            nodes.push_back(static_cast<std::int32_t>(i));
            rows.push_back(i == first_free ? s.degrees[i] : 0.0);
            for (int k = 1; k < columns; ++k) rows.push_back(everywhere ? s.degrees[i] : 0.0);
        }
        const Sources sources(s.n, problem.peel(), static_cast<Int>(nodes.size()), nodes.data(),
                              rows.data(), columns);
        std::vector<float> X(s.n * columns, 0);
        const Columns<float> all{X.data(), columns, columns};
        Descent descent(problem, columns, false, false, &sources, 0);
        descent.begin(all, scale.data());
        for (int step = 0; step < steps; ++step) {
            float levels[max_width + 1];
            descent.step(all, nullptr, levels);
        }
        descent.put_back(all, nullptr);
        for (Int i = 0; i < s.n; ++i) seen[everywhere].push_back(X[i * columns]);
    }
    for (Int i = 0; i < s.n; ++i) CHECK(std::fabs(seen[0][i] - seen[1][i]) <= 1e-4f);
}
// Plain conjugate gradients, in double: how many steps they take from r to a level.
int steps_of_plain_gradients(const System& M, Doubles r, double level, Doubles& x) {
    Doubles p(M.n_rows, 0.0), v(M.n_rows);
    const auto z = [&](Int i) { return M.mass[i] > 0 ? r[i] / M.mass[i] : 0.0; };
    x.assign(M.n_rows, 0.0);
    double before = 0;
    for (int step = 0;; ++step) {
        double now = 0, most = 0, pMp = 0;
        for (Int i = 0; i < M.n_rows; ++i) {
            now += r[i] * z(i);
            most = std::max(most, std::fabs(z(i)));
        }
        if (most <= level) return step;
        for (Int i = 0; i < M.n_rows; ++i) p[i] = z(i) + (step > 0 ? now / before * p[i] : 0.0);
        for (Int i = 0; i < M.n_rows; ++i) {
            v[i] = M.mass[i] * p[i];
            for (Int e = M.start[i]; M.mass[i] > 0 && e < M.start[i + 1]; ++e) {
                v[i] -= M.weight_unit * p[M.ends[e]];
            }
            pMp += p[i] * v[i];
        }
        for (Int i = 0; i < M.n_rows; ++i) {
            x[i] += now / pMp * p[i];
            r[i] -= now / pMp * v[i];
        }
        before = now;
    }
}

// On a graph without structure, what takes the most steps is that all nodes warm up together. That is
// no longer so.
void lifted_steps_are_fewer(bool reduced, const Kernels* kernels) {
    const Sample s(scattered(9000, 90000), false, 0.02);
    const Options o{1, false, false, false, true, true, 0.0, 1, kernels, reduced};
    const Problem problem = problem_of(s, o);
    const System& M = problem.system();
    const Graph graph = view(s.own);
    std::vector<float> X(s.n, 0.0f);
    for (Int i = 0; i < s.n; ++i) X[i] = s.fixed[i] && i % 2 ? 1.0f : 0.0f;
    Doubles r(M.n_rows, 0.0), x;
    double leaving = 0;
    for (Int row = 0; row < M.n_rows; ++row) {
        if (!(M.mass[row] > 0)) continue;
        double out = 0;
        const Int i = problem.node_of(row);
        for (Int e = graph.start[i]; e < graph.start[i + 1]; ++e) {
            if (!s.free[graph.ends[e]]) out += M.weight_unit;
            r[row] += M.weight_unit * X[graph.ends[e]];
        }
        CHECK(std::fabs(M.exits[row] - out) <= 1e-6 * out);
        leaving += out;
    }
    CHECK(std::fabs(M.all_exits - leaving) <= 1e-9 * leaving);
    const int plain = steps_of_plain_gradients(M, r, 1e-5, x);
    const Columns<float> column{X.data(), 1, 1};
    Descent descent(problem, 1, false, false);
    const double scale[] = {1.0};
    descent.begin(column, scale);
    int lifted = 0;
    for (float levels[max_width + 1] = {1}; levels[0] > 1e-5f; ++lifted) {
        descent.step(column, nullptr, levels);
    }
    CHECK(lifted + 2 <= plain);
    descent.put_back(column, nullptr);
    for (Int row = 0; row < M.n_rows; ++row) {
        if (M.mass[row] > 0) CHECK(std::fabs(X[problem.node_of(row)] - x[row]) <= 1e-3);
    }
}

// Two nodes with many neighbours in common, one of them next to a seed: when those are gone, all edges
// between the two are one, so that they are eliminated, too.
void neighbours_joined_by_several_edges_count_once(const Kernels* kernels) {
    constexpr Int n_between = 7, a = n_between, b = n_between + 1, seed = n_between + 2;
    Edges edges{seed + 1, {}, {}, {}};
    for (Int i = 0; i < n_between; ++i) {
        edges.add(i, a);
        edges.add(i, b);
    }
    edges.add(a, seed);
    const OwnGraph own = built<Int>(edges, true, 1);
    const Graph graph = view(own);
    std::vector<std::uint8_t> free(graph.n_nodes, 1);
    free[seed] = 0;
    Doubles degrees(graph.n_nodes);
    row_sums(graph, degrees.data(), 1);
    const Problem problem(graph, free.data(), degrees.data(), nullptr, 0.0, true, true, 1, *kernels,
                          true);
    CHECK(problem.fold().size() == n_between + 2);
    CHECK(problem.system().n_rows == 0);
}

// Blocks with exit times of their own, run beside each other, against each of them alone. A long strip
// with few seeds needs so many steps that they ask for a factor, unless they begin with one: that is
// made before any of them looks for it.
template <class T>
void blocks_beside_each_other_are_as_alone(const Edges& edges, bool is_slow,
                                           Preconditioner preconditioner, const Kernels* kernels) {
    constexpr int n_blocks = 3, width = 5, all = n_blocks * width;
    const Sample s(edges, true, is_slow ? 0.001 : 0.1);
    const Doubles low(width, 0.0), high(width, 1.0), scale(width, 1.0);
    const double tol = sizeof(T) == 8 ? 1e-9 : is_slow ? 1e-2 : 1e-4;  // as float can
    std::vector<T> alone;
    for (const int threads : {0, 1, 2, 4}) {  // 0: one after the other
        Options o{width, true, false, false, true, true, 0.0, 1, kernels};
        o.reduced = true;
        Problem problem = problem_of(s, o);
        CHECK(problem.n_chunks() == 1);
        std::vector<T> X(s.n * all, 0);
        for (Int i = 0; i < s.n; ++i) {
            for (Int k = 0; k < all; ++k) X[i * all + k] = !s.free[i] && (i + k) % 3 == 0;
        }
        std::vector<Doubles> h(n_blocks, Doubles(s.n, 0.0));
        std::vector<ExitTimes> exits(n_blocks);
        std::vector<std::unique_ptr<Steering>> steerings;
        std::vector<Steering*> going;
        std::vector<Columns<T>> columns;
        for (int b = 0; b < n_blocks; ++b) {
            exits[b].h = h[b].data();
            steerings.push_back(std::make_unique<Steering>(
                problem, exits[b], Block{b * width, width, true, false}, nullptr, low.data(),
                high.data(), scale.data(), 100000, preconditioner));
            going.push_back(steerings.back().get());
            columns.push_back({X.data() + b * width, all, width});
        }
        bool any_slow = false, any_short = false;
        for (int turn = 0; turn < 2; ++turn) {
            for (int b = 0; b < n_blocks; ++b) {
                const std::vector<Steering*> one{going[b]};
                const std::vector<Columns<T>> own{columns[b]};
                if (threads > 0 && b > 0) break;
                const auto states =
                    threads > 0 ? run_beside<T>(going, columns, true, {tol, 0.0, 100.0}, threads)
                                : run_beside<T>(one, own, true, {tol, 0.0, 100.0}, 1);
                for (const State state : states) {
                    CHECK(state != State::going && state != State::hopeless);
                    any_slow |= state == State::slow;
                    any_short |= state == State::short_of_digits;
                    CHECK(turn == 0 || state != State::slow);
                }
            }
            if (!any_slow) break;
            problem.factor();
        }
        CHECK(any_slow == (is_slow && preconditioner == Preconditioner::automatic));
        for (int b = 0; b < n_blocks; ++b) steerings[b]->settle<T>(columns[b], true);
        if (threads == 0) alone = X;
        CHECK(same_bits(X, alone));
        CHECK(sizeof(T) == 4 || !any_short);
        for (const auto& one : steerings) CHECK(any_short || one->likely() <= tol);
    }
}

void test_problem(const Sample& s, const Dense& inverse, double leak, const Kernels* kernels) {
    const int every = s.n > 100 ? 3 : 1;  // for the sake of time
    for (int lanes = 1; lanes <= max_width; lanes += every) {
        for (const int choice : {0, 1, 2, 3}) {
            Options o{};
            o.peeling = choice & 1;
            o.exits = choice & 2;
            o.columns = lanes - o.exits;
            // Temperatures that leak away do not add up to 1.
            o.hidden = o.exits && o.columns > 0 && leak == 0 && dice.below(2);
            o.factor = dice.below(2);
            o.root = dice.below(2);
            o.leak = leak;
            o.threads = 1 << dice.below(3);
            o.reduced = dice.below(2);
            o.reordered = !o.factor && dice.below(2);
            o.kernels = kernels;
            const auto steps_lead = dice.below(2) ? &steps_lead_to_equilibrium<float>
                                                  : &steps_lead_to_equilibrium<double>;
            steps_lead(s, inverse, o);
            heat_put_in_spreads_to_equilibrium<float>(s, inverse, o);
            heat_put_in_spreads_to_equilibrium<double>(s, inverse, o);
            o.reduced = true;
            folded_nodes_follow_from_the_others(s, inverse, o);
            what_is_left_has_the_same_equilibrium(s, inverse, o);
            o.reduced = false;
            peeled_nodes_follow_their_parents(s, inverse, o);
            settling_clips_and_fills_peeled_nodes<float>(s, o);
            settling_clips_and_fills_peeled_nodes<double>(s, o);
        }
    }
}

void test_problems(const Edges& edges, bool weighted, double leak) {
    const Sample s(edges, weighted, 0.1);
    const Dense inverse = inverse_of(s, leak);
    for (const Kernels* const kernels : all_kernels()) test_problem(s, inverse, leak, kernels);
}

}  // namespace

void test_solves() {
    the_pace_foretells_the_steps_of_a_geometric_fall();
    for (const Kernels* const kernels : all_kernels()) {
        for (const int columns : {1, 2, 5, 16}) {
            nodes_of_great_numbers_are_found<float>(columns, kernels);
            nodes_of_great_numbers_are_found<double>(columns, kernels);
        }
        for (const bool reduced : {false, true}) lifted_steps_are_fewer(reduced, kernels);
        neighbours_joined_by_several_edges_count_once(kernels);
    }
    for (const int choice : {0, 1, 2, 3}) {
        const Edges nothing_free{3, {}, {}, {}};
        for (const Edges& edges : {nothing_free, path(30), tree(50, 50), scattered(60, 60),
                                   scattered(50, 150), with_hub(scattered(301, 100))}) {
            test_problems(edges, choice & 1, choice & 2 ? 0.05 : 0.0);
        }
    }
}

void test_solves_on_threads() {
    for (const Kernels* const kernels : all_kernels()) {
        for (const int threads : {1, 2, 4}) {
            for (const Edges& edges : {diamonds(16), ladder(10)}) {
                what_needs_no_draws_is_factorised_exactly(edges, threads, kernels);
            }
        }
        for (const int columns : {1, 2, 5, 16}) {
            heat_is_followed_without_loss(strip(8000, 4), true, columns, true, 200, kernels);
            heat_is_followed_without_loss(scattered(9000, 70000), false, columns, false, 30, kernels);
        }
        for (const bool factor : {false, true}) {
            answers_do_not_depend_on_the_threads<float>(factor, kernels);
            answers_do_not_depend_on_the_threads<double>(factor, kernels);
        }
        for (const bool is_slow : {false, true}) {
            const Edges edges = is_slow ? strip(500, 12) : with_hub(scattered(2000, 6000));
            for (const auto preconditioner : {Preconditioner::automatic, Preconditioner::factor}) {
                blocks_beside_each_other_are_as_alone<float>(edges, is_slow, preconditioner, kernels);
                blocks_beside_each_other_are_as_alone<double>(edges, is_slow, preconditioner, kernels);
            }
        }
    }
}

}  // namespace isotherm
