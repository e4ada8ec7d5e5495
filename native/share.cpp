#include "share.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "threads.hpp"

namespace isotherm {
namespace {

constexpr std::int64_t ahead = 24;      // entries by which rows are fetched before they are needed
constexpr std::int64_t piece = 1 << 12; // rows streamed at once

template <int W>
struct Row {
    typedef float floats __attribute__((vector_size(sizeof(float) * W)));
    typedef double doubles __attribute__((vector_size(sizeof(double) * W)));
};

template <class Vector, class T>
inline Vector load(const T* from) {
    Vector row;
    std::memcpy(&row, from, sizeof row);
    return row;
}

template <class Vector, class T>
inline void store(T* to, const Vector& row) {
    std::memcpy(to, &row, sizeof row);
}

// Sums and maxima of the columns, by chunk, so that they do not depend on the threads.
template <int W>
struct Found {
    typename Row<W>::doubles dots{};
    typename Row<W>::floats levels{};
};

template <int W>
inline void measure(Found<W>& found, const typename Row<W>::floats& r, float by_diagonal,
                    float by_gauge) {
    using Floats = typename Row<W>::floats;
    found.dots += __builtin_convertvector(r * r * by_diagonal, typename Row<W>::doubles);
    const Floats size = (r < 0 ? -r : r) * by_gauge;
    // NaN stays one.
    found.levels = found.levels >= size ? found.levels : size;
}

template <int W>
void combine(const std::vector<Found<W>>& parts, double* dots, double* levels) {
    for (int k = 0; k < W; ++k) dots[k] = 0.0;
    if (levels) {
        for (int k = 0; k < W; ++k) levels[k] = 0.0;
    }
    for (const Found<W>& part : parts) {
        for (int k = 0; k < W; ++k) {
            dots[k] += part.dots[k];
            if (!levels) continue;
            const double level = part.levels[k];
            if (!(levels[k] >= level)) levels[k] = level == level ? level : 0.0 / 0.0;
        }
    }
}

template <int W, bool weighted>
void multiply_rows(const Share& share, const float* P, float* V, Found<W>& found,
                   std::int64_t first, std::int64_t last) {
    using Floats = typename Row<W>::floats;
    const Graph& graph = share.graph;
    const std::int64_t end = graph.n_entries();
    for (std::int64_t i = first; i < last; ++i) {
        Floats product{};
        if (share.free[i]) {
            Floats sum{};
            for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                const std::int64_t later = graph.ends[std::min(e + ahead, end - 1)];
                __builtin_prefetch(P + later * W);
                const Floats row = load<Floats>(P + std::int64_t{graph.ends[e]} * W);
                if constexpr (weighted) {
                    sum += row * static_cast<float>(graph.weights[e]);
                } else {
                    sum += row;
                }
            }
            const Floats own = load<Floats>(P + i * W);
            product = own * share.diagonal[i] - sum;
            found.dots += __builtin_convertvector(own * product, typename Row<W>::doubles);
        }
        store(V + i * W, product);
    }
}

template <int W>
void multiply_width(const Share& share, const float* P, float* V, double* dots, int threads) {
    const auto cuts = cut_rows(share.n_own, [&](std::int64_t i) { return share.graph.start[i]; });
    const auto rows = share.graph.weights ? multiply_rows<W, true> : multiply_rows<W, false>;
    std::vector<Found<W>> parts(cuts.size() - 1);
    for_chunks(threads, static_cast<std::int64_t>(parts.size()),
               [&](std::int64_t c) { rows(share, P, V, parts[c], cuts[c], cuts[c + 1]); });
    combine<W>(parts, dots, nullptr);
}

template <int W>
void descend_width(const Share& share, const double* alpha, const float* P, const float* V,
                   float* D, float* R, double* dots, double* levels, int threads) {
    using Floats = typename Row<W>::floats;
    Floats a;
    for (int k = 0; k < W; ++k) a[k] = static_cast<float>(alpha[k]);
    std::vector<Found<W>> parts((share.n_own + piece - 1) / piece);
    for_pieces(threads, share.n_own, piece, [&](std::int64_t first, std::int64_t last) {
        Found<W>& found = parts[first / piece];
        for (std::int64_t i = first; i < last; ++i) {
            if (!share.free[i]) continue;
            store(D + i * W, load<Floats>(D + i * W) + a * load<Floats>(P + i * W));
            const Floats r = load<Floats>(R + i * W) - a * load<Floats>(V + i * W);
            store(R + i * W, r);
            measure<W>(found, r, share.inverse_diagonal[i], share.inverse_gauge[i]);
        }
    });
    combine<W>(parts, dots, levels);
}

template <int W>
void turn_width(const Share& share, const double* beta, const float* R, float* P, int threads) {
    using Floats = typename Row<W>::floats;
    Floats b;
    for (int k = 0; k < W; ++k) b[k] = static_cast<float>(beta[k]);
    for_pieces(threads, share.n_own, piece, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            if (!share.free[i]) continue;
            const Floats r = load<Floats>(R + i * W) * share.inverse_diagonal[i];
            store(P + i * W, r + b * load<Floats>(P + i * W));
        }
    });
}

template <int W, bool weighted>
void weigh_rows(const Share& share, const double* X, const double* loss, const double* source,
                int heated, float* R, Found<W>& found, std::int64_t first, std::int64_t last) {
    using Doubles = typename Row<W>::doubles;
    using Floats = typename Row<W>::floats;
    const Graph& graph = share.graph;
    const std::int64_t end = graph.n_entries();
    for (std::int64_t i = first; i < last; ++i) {
        Floats r{};
        if (share.free[i]) {
            const Doubles own = load<Doubles>(X + i * W);
            Doubles sum = own * -loss[i];
            for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                const std::int64_t later = graph.ends[std::min(e + ahead, end - 1)];
                __builtin_prefetch(X + later * W);
                const Doubles row = load<Doubles>(X + std::int64_t{graph.ends[e]} * W);
                if constexpr (weighted) {
                    sum += (row - own) * graph.weights[e];
                } else {
                    sum += row - own;
                }
            }
            if (heated >= 0) sum[heated] += source[i];
            r = __builtin_convertvector(sum, Floats);
            measure<W>(found, r, share.inverse_diagonal[i], share.inverse_gauge[i]);
        }
        store(R + i * W, r);
    }
}

template <int W>
void weigh_width(const Share& share, const double* X, const double* loss, const double* source,
                 int heated, float* R, double* dots, double* levels, int threads) {
    const auto cuts = cut_rows(share.n_own, [&](std::int64_t i) { return share.graph.start[i]; });
    const auto rows = share.graph.weights ? weigh_rows<W, true> : weigh_rows<W, false>;
    std::vector<Found<W>> parts(cuts.size() - 1);
    for_chunks(threads, static_cast<std::int64_t>(parts.size()), [&](std::int64_t c) {
        rows(share, X, loss, source, heated, R, parts[c], cuts[c], cuts[c + 1]);
    });
    combine<W>(parts, dots, levels);
}

}  // namespace

void multiply_share(const Share& share, int width, const float* P, float* V, double* dots,
                    int threads) {
    const auto run = width == 4 ? multiply_width<4> : width == 8 ? multiply_width<8>
                                                                 : multiply_width<16>;
    run(share, P, V, dots, threads);
}

void descend_share(const Share& share, int width, const double* alpha, const float* P,
                   const float* V, float* D, float* R, double* dots, double* levels, int threads) {
    const auto run = width == 4 ? descend_width<4> : width == 8 ? descend_width<8>
                                                                : descend_width<16>;
    run(share, alpha, P, V, D, R, dots, levels, threads);
}

void turn_share(const Share& share, int width, const double* beta, const float* R, float* P,
                int threads) {
    const auto run = width == 4 ? turn_width<4> : width == 8 ? turn_width<8> : turn_width<16>;
    run(share, beta, R, P, threads);
}

void weigh_share(const Share& share, int width, const double* X, const double* loss,
                 const double* source, int heated, float* R, double* dots, double* levels,
                 int threads) {
    const auto run = width == 4 ? weigh_width<4> : width == 8 ? weigh_width<8> : weigh_width<16>;
    run(share, X, loss, source, heated, R, dots, levels, threads);
}

}  // namespace isotherm
