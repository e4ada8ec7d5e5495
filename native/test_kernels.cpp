#include "front.hpp"
#include "problem.hpp"
#include "test_core.hpp"

namespace isotherm {
namespace {


// Products of a direction that has not got far, of the rows that it may have got to and of all.
void rows_beyond_the_front_have_no_sums(const Edges& edges, int width, const Kernels* kernels) {
    const Sample s(edges, true, 0.05);
    const Problem problem(view(s.own), s.free.data(), s.degrees.data(), nullptr, 0.0, true, true, 1,
                          *kernels, true);
    const System& M = problem.system();
    const Int room = padded(M.n_rows);
    std::vector<float> P(room * width, 0.0f), Z = P, V[2] = {P, P};
    Z[M.n_rows / 2 * width] = 1;
    Vectors x{};
    x.P = P.data();
    x.Z = Z.data();
    x.width = x.lanes = x.stride = width;
    Front front;
    front.begin(M, x);
    CHECK(front.rows() != nullptr);
    for (int step = 0; step < 5; ++step) {
        for (Int row = 0; front.rows() && row < M.n_rows; ++row) {
            if (!front.rows()[row]) continue;
            for (int l = 0; l < width; ++l) P[row * width + l] = static_cast<float>(dice.uniform());
        }
        front.advance(M);
        Doubles dots[2];
        for (const bool all : {false, true}) {
            x.reached = all ? nullptr : front.rows();
            x.V = V[all].data();
            dots[all].assign(max_width, 0.0);
            kernels->product(M, x, 0, M.n_rows, dots[all].data());
        }
        CHECK(same_bits(V[0], V[1]) && same_bits(dots[0], dots[1]));
    }
}

// Rows whose residuals are lifted, and directions that are shifted, against a loop over numbers; and
// the sums over rows.
void all_rows_are_lifted_alike(int width, const Kernels* kernels) {
    constexpr Int n = 1000;
    const Int room = padded(n);
    std::vector<float> mass(room, 0.0f), exits(room, 0.0f), Z(room * width, 0.0f), V = Z;
    const Buffer<float> P(room * width);
    for (Int i = 0; i < n; ++i) {
        for (int l = 0; l < width; ++l) {
            Z[i * width + l] = i % 7 == 3 ? 0.0f : static_cast<float>(dice.uniform() - 0.5);
            V[i * width + l] = static_cast<float>(dice.uniform());
        }
        if (i % 7 == 3) continue;  // does not move
        mass[i] = static_cast<float>(0.1 + dice.uniform());
        exits[i] = i % 3 ? 0.0f : 0.1f * mass[i];
    }
    System M{};
    M.n_rows = n;
    M.mass = mass.data();
    M.exits = exits.data();
    Vectors x{};
    x.P = P.get();
    x.Z = Z.data();
    x.V = V.data();
    x.width = x.lanes = x.stride = x.columns = width;
    float rise[max_width] = {}, largest[max_width] = {};
    Turn turn{};
    for (int l = 0; l < width; ++l) {
        rise[l] = 0.5f * static_cast<float>(l + 1);
        turn.shift[l] = 0.25f * static_cast<float>(l + 1);
        turn.inverse_units[l] = 1;
    }
    const std::vector<float> before = Z;
    kernels->lift(M, x, rise, 0, n);
    Dots dots{};
    kernels->dot(M, x, x.Z, 0, n, dots, largest);
    const double none[max_width + 1] = {};
    double rp[max_width] = {};
    kernels->advance_f(M, x, x.Z, {nullptr, 0, 0}, nullptr, none, turn, 0, n, rp);
    Dots sums{};
    double sizes[max_width] = {}, along[max_width] = {};
    for (Int i = 0; i < n; ++i) {
        for (int l = 0; l < width; ++l) {
            const bool moves = mass[i] > 0;
            const double z = before[i * width + l] - (moves ? rise[l] * exits[i] / mass[i] : 0.0f);
            const double p = z + (moves ? turn.shift[l] : 0.0f);
            CHECK(std::fabs(Z[i * width + l] - z) <= 1e-5);
            CHECK(std::fabs(P[i * width + l] - p) <= 1e-5);
            sums.flow[l] += mass[i] * z * V[i * width + l];
            sums.heat[l] += mass[i] * z;
            sums.leaving[l] += exits[i] * z;
            along[l] += mass[i] * z * p;
            sizes[l] = std::max(sizes[l], std::fabs(z));
        }
    }
    for (int l = 0; l < width; ++l) {
        CHECK(std::fabs(dots.flow[l] - sums.flow[l]) <= 1e-2);
        CHECK(std::fabs(dots.heat[l] - sums.heat[l]) <= 1e-2);
        CHECK(std::fabs(dots.leaving[l] - sums.leaving[l]) <= 1e-3);
        CHECK(std::fabs(rp[l] - along[l]) <= 1e-2);
        CHECK(std::fabs(largest[l] - sizes[l]) <= 1e-5);
    }
}

// Of nodes in a row: one edge further each time, not beyond a row that does not move, and not on and
// on.
void the_front_goes_an_edge_further() {
    constexpr Int n = 1 << 16;
    std::vector<Int> start{0};
    std::vector<std::int32_t> ends;
    for (Int i = 0; i < n; ++i) {
        for (const Int j : {i - 1, i + 1}) {
            if (j >= 0 && j < n) ends.push_back(static_cast<std::int32_t>(j));
        }
        start.push_back(static_cast<Int>(ends.size()));
    }
    std::vector<float> mass(n, 1.0f), Z(2 * n, 0.0f);
    const Int middle = n / 2;
    mass[middle - 3] = 0;
    Z[2 * middle + 1] = 1;  // in its second lane
    System M{};
    M.n_rows = n;
    M.start = start.data();
    M.ends = ends.data();
    M.mass = mass.data();
    Vectors x{};
    x.Z = Z.data();
    x.stride = x.lanes = 2;
    Front front;
    CHECK(front.rows() == nullptr);
    front.begin(M, x);
    for (Int step = 0; step < 5; ++step) {
        CHECK(front.rows() != nullptr);
        for (Int i = middle - 9; i < middle + 9; ++i) {
            const bool near = i >= middle - std::min<Int>(step, 2) && i <= middle + step;
            CHECK((front.rows()[i] != 0) == near);
        }
        front.advance(M);
    }
    for (Int step = 0; step < n && front.rows(); ++step) front.advance(M);
    CHECK(front.rows() == nullptr);
    std::fill(Z.begin(), Z.end(), 1.0f);
    front.begin(M, x);
    CHECK(front.rows() == nullptr);
}

// A number that half precision has, as its bits.
std::uint16_t half_of(float x) {
    if (!(x < 0 || x > 0)) return 0;
    int exponent = 0;
    const float mantissa = std::frexp(std::fabs(x), &exponent);  // from 1/2 to 1
    const auto fraction = static_cast<int>(std::ldexp(mantissa, 11)) & 0x3ff;
    return static_cast<std::uint16_t>((x < 0) << 15 | (exponent + 14) << 10 | fraction);
}

// One product, by rows of every width, in both precisions, against a loop over the entries. `weights`:
// 0: none, 1: floats, 2: those of the graph.
void products_are_sums_over_neighbours(const Edges& edges, int width, bool halves, int weights,
                                       const Kernels* kernels) {
    const OwnGraph own = built<Int>(edges, weights > 0, 1);
    const Graph graph = view(own);
    const Int n = graph.n_nodes, room = padded(n);
    std::vector<float> floats(graph.n_entries()), mass(room, 0.0f), V(room * width, 0.0f);
    std::vector<float> P(room * width, 0.0f);
    std::vector<std::uint16_t> half_P(P.size(), 0);
    for (Int e = 0; e < graph.n_entries(); ++e) floats[e] = static_cast<float>(graph.weight(e) / 8);
    for (Int i = 0; i < n; ++i) {
        if (i % 7 == 3) continue;  // does not move
        mass[i] = static_cast<float>(1 + dice.below(8)) / 8;
        for (int l = 0; l < width; ++l) {
            P[i * width + l] = static_cast<float>(dice.below(257) - 128) / 16;
            half_P[i * width + l] = half_of(P[i * width + l]);
        }
    }
    System M{};
    M.n_rows = n;
    M.start = graph.start;
    M.ends = graph.ends;
    M.weights = weights == 1 ? floats.data() : nullptr;
    M.graph_weights = weights == 2 ? graph.weights : nullptr;
    M.weight_unit = 1.0 / 8;
    M.mass = mass.data();
    Vectors x{};
    x.P = halves ? static_cast<void*>(half_P.data()) : P.data();
    x.halves = halves;
    x.V = V.data();
    x.width = x.lanes = x.stride = width;
    double dots[max_width] = {};
    kernels->product(M, x, 0, n, dots);
    Doubles sums(width, 0.0);
    for (Int i = 0; i < n; ++i) {
        for (int l = 0; l < width; ++l) {
            double flow = 0;
            for (Int e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                flow += graph.weight(e) / 8 * P[graph.ends[e] * width + l];
            }
            const double p = P[i * width + l], v = mass[i] > 0 ? p - flow / mass[i] : 0;
            CHECK(std::fabs(V[i * width + l] - v) <= 1e-4 * (1 + std::fabs(v)));
            sums[l] += mass[i] * p * v;
        }
    }
    for (int l = 0; l < width; ++l) CHECK(std::fabs(dots[l] - sums[l]) <= 1e-3 * (1 + std::fabs(sums[l])));
}

// Directions written past the caches, for other threads to read, against those written as usual.
void directions_are_the_same_past_the_caches(int width, bool halves, const Kernels* kernels) {
    constexpr Int n = 100;
    const Int room = padded(n);
    std::vector<float> mass(room, 0.0f), Z(room * width, 0.0f), X(n * width, 0.0f);
    Turn turn{};
    double along[max_width + 1] = {};
    for (int l = 0; l < width; ++l) {
        turn.shift[l] = 0.3f * static_cast<float>(l);
        turn.beta[l] = 0.5f + 0.1f * static_cast<float>(l);
        turn.inverse_units[l] = 0.25f;
        along[l] = 0.125 * l;
    }
    for (Int i = 0; i < n; ++i) {
        mass[i] = static_cast<float>(dice.uniform());
        for (int l = 0; l < width; ++l) Z[i * width + l] = static_cast<float>(dice.uniform());
    }
    System M{};
    M.n_rows = n;
    M.mass = mass.data();
    std::vector<char> seen[2];
    Doubles dots[2];
    for (const bool shared : {false, true}) {
        const Buffer<float> P(room * width);  // aligned, as those of a descent are
        std::vector<float> into = X;
        Vectors x{};
        x.P = P.get();
        x.halves = halves;
        x.shared = shared;
        x.Z = Z.data();
        x.width = x.lanes = x.stride = x.columns = width;
        dots[shared].assign(max_width, 0.0);
        for (int twice = 0; twice < 2; ++twice) {
            kernels->advance_f(M, x, x.Z, {into.data(), width, width, true}, nullptr, along, turn, 0,
                               n, dots[shared].data());
        }
        const auto* const bytes = reinterpret_cast<const char*>(P.get());
        seen[shared].assign(bytes, bytes + n * bytes_per_row(width, halves));
        CHECK(std::any_of(into.begin(), into.end(), [](float t) { return t > 0; }) || width == 1);
    }
    CHECK(same_bits(seen[0], seen[1]));
    CHECK(same_bits(dots[0], dots[1]));
    CHECK(std::any_of(seen[0].begin(), seen[0].end(), [](char byte) { return byte != 0; }));
}

}  // namespace

void test_kernels() {
    the_front_goes_an_edge_further();
    // More than caches have.
    const Edges far_edges = with_hub(scattered(60'000, far_bytes / 8 + 1000));
    for (const Kernels* const kernels : all_kernels()) {
        for (const int width : {1, 2, 4, 8, 16}) {
            rows_beyond_the_front_have_no_sums(strip(8000, 4), width, kernels);
            all_rows_are_lifted_alike(width, kernels);
            for (const bool halves : {false, true}) {
                directions_are_the_same_past_the_caches(width, halves, kernels);
            }
            if (width == 1 || width == max_width) {  // entries that are asked for ahead
                products_are_sums_over_neighbours(far_edges, width, true, 0, kernels);
            }
            const Edges edges = with_hub(scattered(400, 2000));
            for (const int weights : {0, 1, 2}) {
                products_are_sums_over_neighbours(edges, width, false, weights, kernels);
                products_are_sums_over_neighbours(edges, width, true, weights, kernels);
            }
        }
    }
}

}  // namespace isotherm
