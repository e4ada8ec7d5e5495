#include "share.hpp"
#include "test_core.hpp"

namespace isotherm {
namespace {

// One rank's rows, in arrays that are no longer than they must be.
struct Rank {
    std::vector<Int> start{0};
    std::vector<std::int32_t> ends;
    Doubles weights;
    Int n_own, n_all;
    std::vector<std::uint8_t> free;
    std::vector<float> diagonal, inverse_diagonal, inverse_gauge, staying;
    bool weighted;

    Rank(Int own, Int ghosts, bool weighted_) : n_own(own), n_all(own + ghosts), weighted(weighted_) {
        for (Int i = 0; i < n_all; ++i) {
            for (Int e = i < n_own ? dice.below(i % 100 ? 8 : 200) : 0; e > 0; --e) {
                ends.push_back(static_cast<std::int32_t>(dice.below(n_all)));
                weights.push_back(0.25 + dice.uniform());
            }
            start.push_back(static_cast<Int>(ends.size()));
        }
        for (Int i = 0; i < n_own; ++i) {
            free.push_back(dice.below(5) > 0);
            diagonal.push_back(static_cast<float>(1 + dice.uniform()));
            inverse_diagonal.push_back(1 / diagonal[i]);
            inverse_gauge.push_back(free[i] ? static_cast<float>(1 + dice.uniform()) : 0.0f);
            staying.push_back(static_cast<float>(dice.uniform()));
        }
    }
    Share share(bool is_known) const {
        return {{n_all, start.data(), ends.data(), weighted ? weights.data() : nullptr},
                n_own, free.data(), diagonal.data(), inverse_diagonal.data(), inverse_gauge.data(),
                is_known ? staying.data() : nullptr};
    }
    double weight(Int e) const { return weighted ? weights[e] : 1.0; }
};

std::vector<float> some_floats(Int count) {
    std::vector<float> numbers(count);
    for (float& x : numbers) x = static_cast<float>(2 * dice.uniform() - 1);
    return numbers;
}

bool is_near(double a, double b, double size = 1) { return std::fabs(a - b) <= 1e-4 * (size + std::fabs(b)); }

struct SumsFound {
    Doubles dots, levels, staying;
    explicit SumsFound(int width) : dots(width, 0.0), levels(width, 0.0), staying(width, 0.0) {}
    SumsOfShare view() { return {dots.data(), levels.data(), staying.data()}; }
    bool operator==(const SumsFound& other) const {
        return same_bits(dots, other.dots) && same_bits(levels, other.levels) &&
               same_bits(staying, other.staying);
    }
};

// Each set of instructions on all rows at once: its kernels.
std::vector<const ShareKernels*> share_kernels(int width) {
    std::vector<const ShareKernels*> found{&share_kernels_plain(width)};
#if defined(ISOTHERM_X86)
    if (find_kernels("avx2")) found.push_back(&share_kernels_avx2(width));
    if (find_kernels("avx512")) found.push_back(&share_kernels_avx512(width));
#endif
    return found;
}
std::vector<WeighRows> weigh_rows(int columns) {
    std::vector<WeighRows> found{weigh_rows_plain(columns)};
#if defined(ISOTHERM_X86)
    if (find_kernels("avx2")) found.push_back(weigh_rows_avx2(columns));
    if (find_kernels("avx512")) found.push_back(weigh_rows_avx512(columns));
#endif
    return found;
}

void shares_multiply(const Rank& rank, int width) {
    const Share share = rank.share(false);
    const Int stride = stride_of_P(width);
    const auto P = some_floats(rank.n_all * stride);
    std::vector<float> V(rank.n_own * width, 7.0f), slow = V;
    Doubles dots(width), expected(width, 0.0);
    for (Int i = 0; i < rank.n_own; ++i) {
        for (int k = 0; k < width; ++k) {
            double v = rank.diagonal[i] * P[i * stride + k];
            for (Int e = rank.start[i]; e < rank.start[i + 1]; ++e) {
                v -= rank.weight(e) * P[rank.ends[e] * stride + k];
            }
            slow[i * width + k] = static_cast<float>(rank.free[i] ? v : 0.0);
            if (rank.free[i]) expected[k] += v * P[i * stride + k];
        }
    }
    const auto is_right = [&] {
        for (std::size_t at = 0; at < V.size(); ++at) CHECK(is_near(V[at], slow[at], 10));
        for (int k = 0; k < width; ++k) CHECK(is_near(dots[k], expected[k], 100));
    };
    for (const ShareKernels* const kernels : share_kernels(width)) {
        Doubles staying(width, 0.0);
        std::vector<float> levels(width, 0.0f);
        std::fill(V.begin(), V.end(), 7.0f);
        std::fill(dots.begin(), dots.end(), 0.0);
        kernels->multiply(share, P.data(), V.data(), {dots.data(), staying.data(), levels.data()}, 0,
                          rank.n_own);
        is_right();
    }
    std::vector<float> first;
    Doubles first_dots;
    for (const int threads : {1, 2, 4}) {
        std::fill(V.begin(), V.end(), 7.0f);
        multiply_share(share, width, P.data(), V.data(), dots.data(), threads);
        is_right();
        if (threads == 1) first = V, first_dots = dots;
        CHECK(same_bits(V, first) && same_bits(dots, first_dots));
    }
}

void shares_descend_and_turn(const Rank& rank, int width, bool is_known) {
    const Share share = rank.share(is_known);
    const Int stride = stride_of_P(width);
    const auto P = some_floats(rank.n_all * stride), V = some_floats(rank.n_own * width);
    const auto D = some_floats(rank.n_own * width), R = some_floats(rank.n_own * width);
    Doubles alpha(width), beta(width), shift(width);
    for (int k = 0; k < width; ++k) {
        alpha[k] = dice.uniform();
        beta[k] = dice.uniform();
        shift[k] = dice.uniform();
    }
    std::unique_ptr<SumsFound> first;
    std::vector<float> first_R, first_D, first_P;
    for (const int threads : {1, 2, 4}) {
        SumsFound found(width), expected(width);
        auto d = D, r = R, p = P;
        descend_share(share, width, alpha.data(), P.data(), V.data(), d.data(), r.data(), found.view(),
                      threads);
        turn_share(share, width, beta.data(), shift.data(), r.data(), p.data(), threads);
        for (Int i = 0; i < rank.n_own; ++i) {
            for (int k = 0; k < width; ++k) {
                const Int at = i * width + k, row = i * stride + k;
                if (!rank.free[i]) {
                    CHECK(d[at] == D[at] && r[at] == R[at] && p[row] == P[row]);
                    continue;
                }
                const double residual = R[at] - alpha[k] * V[at];
                const double direction = residual / rank.diagonal[i];
                CHECK(is_near(d[at], D[at] + alpha[k] * P[row]) && is_near(r[at], residual));
                CHECK(is_near(p[row], direction + shift[k] + beta[k] * P[row]));
                expected.dots[k] += residual * direction;
                expected.staying[k] += is_known ? rank.staying[i] * residual : 0.0;
                double& level = expected.levels[k];
                level = std::max(level, rank.inverse_gauge[i] * std::fabs(residual));
            }
        }
        for (std::size_t at = rank.n_own * stride; at < p.size(); ++at) CHECK(p[at] == P[at]);  // ghosts
        for (int k = 0; k < width; ++k) {
            CHECK(is_near(found.dots[k], expected.dots[k]) && is_near(found.levels[k], expected.levels[k]));
            CHECK(is_near(found.staying[k], expected.staying[k], 100));
        }
        if (threads == 1) {
            first = std::make_unique<SumsFound>(found);
            first_R = r;
            first_D = d;
            first_P = p;
        }
        CHECK(found == *first && same_bits(r, first_R) && same_bits(d, first_D) && same_bits(p, first_P));
    }
    // Each set of instructions comes to the same but for rounding.
    for (const ShareKernels* const kernels : share_kernels(width)) {
        const std::vector<float> a(alpha.begin(), alpha.end()), b(beta.begin(), beta.end()),
            s(shift.begin(), shift.end());
        auto d = D, r = R, p = P;
        Doubles dots(width, 0.0), staying(width, 0.0);
        std::vector<float> levels(width, 0.0f);
        const SumsOfRows sums{dots.data(), staying.data(), levels.data()};
        kernels->descend(share, a.data(), P.data(), V.data(), d.data(), r.data(), sums, 0, rank.n_own);
        kernels->turn(share, b.data(), s.data(), r.data(), p.data(), 0, rank.n_own);
        for (std::size_t at = 0; at < r.size(); ++at) CHECK(is_near(r[at], first_R[at]) && is_near(d[at], first_D[at]));
        for (std::size_t at = 0; at < p.size(); ++at) CHECK(is_near(p[at], first_P[at]));
        for (int k = 0; k < width; ++k) CHECK(is_near(levels[k], first->levels[k]) && is_near(dots[k], first->dots[k]));
    }
    // A residual that is no number is the greatest.
    const Int bad = std::find(rank.free.begin(), rank.free.end(), 1) - rank.free.begin();
    for (int k = 0; k < width; ++k) {
        SumsFound found(width);
        auto d = D, r = R;
        r[bad * width + k] = std::numeric_limits<float>::quiet_NaN();
        descend_share(share, width, alpha.data(), P.data(), V.data(), d.data(), r.data(), found.view(), 2);
        for (int l = 0; l < width; ++l) CHECK(std::isnan(found.levels[l]) == (l == k));
    }
}

void shares_weigh(const Rank& rank, int columns, int stride, bool is_known) {
    const Share share = rank.share(is_known);
    Doubles X(rank.n_all * columns), loss, source;
    for (double& x : X) x = 2 * dice.uniform() - 1;
    for (Int i = 0; i < rank.n_own; ++i) {
        loss.push_back(dice.uniform());
        source.push_back(dice.uniform());
    }
    const std::vector<float> before(rank.n_own * stride, 7.0f);
    for (const int heated : {-1, 0, columns - 1}) {
        const Heating heat{loss.data(), source.data(), heated};
        std::vector<float> expected = before, first;
        SumsFound sums(columns);
        for (Int i = 0; i < rank.n_own; ++i) {
            for (int k = 0; k < columns; ++k) {
                double r = k == heated ? source[i] : 0.0;
                r -= loss[i] * X[i * columns + k];
                for (Int e = rank.start[i]; e < rank.start[i + 1]; ++e) {
                    r += rank.weight(e) * (X[rank.ends[e] * columns + k] - X[i * columns + k]);
                }
                if (!rank.free[i]) r = 0;
                expected[i * stride + k] = static_cast<float>(r);
                sums.dots[k] += rank.free[i] ? r * r / rank.diagonal[i] : 0.0;
                sums.staying[k] += is_known ? rank.staying[i] * r : 0.0;
                sums.levels[k] = std::max(sums.levels[k], rank.inverse_gauge[i] * std::fabs(r));
            }
        }
        const auto is_right = [&](const std::vector<float>& R) {
            for (std::size_t at = 0; at < R.size(); ++at) CHECK(is_near(R[at], expected[at]));
        };
        std::unique_ptr<SumsFound> alone;
        for (const int threads : {1, 2, 4}) {
            SumsFound found(columns);
            auto R = before;
            weigh_share(share, heat, {X.data(), columns}, R.data(), stride, found.view(), threads);
            is_right(R);
            for (int k = 0; k < columns; ++k) {
                CHECK(is_near(found.dots[k], sums.dots[k]) && is_near(found.levels[k], sums.levels[k]));
                CHECK(is_near(found.staying[k], sums.staying[k], 100));
            }
            if (threads == 1) {
                first = R;
                alone = std::make_unique<SumsFound>(found);
            }
            CHECK(same_bits(R, first) && found == *alone);
        }
        for (const WeighRows weigh : weigh_rows(columns)) {
            Doubles dots(columns, 0.0), staying(columns, 0.0);
            std::vector<float> levels(columns, 0.0f);
            auto R = before;
            weigh(share, heat, X.data(), R.data(), stride, {dots.data(), staying.data(), levels.data()},
                  0, rank.n_own);
            is_right(R);
        }
    }
}

}  // namespace

void test_shares() {
    for (const bool weighted : {false, true}) {
        // The largest has several chunks.
        for (const Rank& rank : {Rank(1, 0, weighted), Rank(30, 9, weighted), Rank(9000, 500, weighted)}) {
            for (const int width : {4, 8, 12, 16}) {
                shares_multiply(rank, width);
                for (const bool is_known : {false, true}) {
                    if (rank.n_own > 1) shares_descend_and_turn(rank, width, is_known);
                }
            }
            for (const int columns : {2, 4, 8}) {
                shares_weigh(rank, columns, 8, true);
                shares_weigh(rank, columns, 12, false);
            }
        }
    }
}

}  // namespace isotherm
