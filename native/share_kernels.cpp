// Compiled once per instruction set, with ISOTHERM_KERNELS naming what it defines. See share.hpp.
#include "share.hpp"

#include "instruction_set.hpp"
#include "lanes.hpp"

namespace isotherm {
namespace {

constexpr std::int64_t ahead = 24;  // entries by which rows are fetched before they are needed

// Sums and maxima of the columns, of some rows.
template <int W>
struct Found {
    Row<double, W> dots, staying;
    Row<float, W> levels;

    void put(const SumsOfRows& all) const {
        store_row(all.dots, dots);
        store_row(all.staying, staying);
        store_row(all.levels, levels);
    }
};

template <int W>
inline void measure(const Share& share, std::int64_t i, const Row<float, W>& r, Found<W>& found) {
    found.dots += as<double>(share.inverse_diagonal[i] * (r * r));
    if (share.staying) found.staying += as<double>(share.staying[i] * r);
    found.levels = larger_or_nan(found.levels, share.inverse_gauge[i] * size_of(r));
}

inline std::int64_t later(const Graph& graph, std::int64_t e, std::int64_t end) {
    return graph.ends[e + ahead < end ? e + ahead : end - 1];
}

template <int W, bool weighted>
void multiply_rows(const Share& share, const float* P, float* V, const SumsOfRows& sums,
                   std::int64_t first, std::int64_t last) {
    using Floats = Row<float, W>;
    constexpr std::int64_t stride = stride_of_P(W);
    const Graph& graph = share.graph;
    const std::int64_t end = graph.n_entries();
    Found<W> found;
    for (std::int64_t i = first; i < last; ++i) {
        Floats product{};
        if (share.free[i]) {
            const auto term = [&](std::int64_t e) __attribute__((always_inline)) {
                __builtin_prefetch(P + later(graph, e, end) * stride);
                const Floats row = load_row<float, W>(P + std::int64_t{graph.ends[e]} * stride);
                if constexpr (weighted) return static_cast<float>(graph.weights[e]) * row;
                else return row;
            };
            Floats sum{}, other{};  // so that additions need not wait for each other
            std::int64_t e = graph.start[i];
            for (; e + 2 <= graph.start[i + 1]; e += 2) {
                sum += term(e);
                other += term(e + 1);
            }
            if (e < graph.start[i + 1]) sum += term(e);
            sum += other;
            const Floats own = load_row<float, W>(P + i * stride);
            product = share.diagonal[i] * own - sum;
            found.dots += as<double>(own * product);
        }
        store_row(V + i * W, product);
    }
    found.put(sums);
}

template <int W>
void multiply_width(const Share& share, const float* P, float* V, const SumsOfRows& sums,
                    std::int64_t first, std::int64_t last) {
    const auto rows = share.graph.weights ? multiply_rows<W, true> : multiply_rows<W, false>;
    rows(share, P, V, sums, first, last);
}

template <int W>
void descend_width(const Share& share, const float* alpha, const float* P, const float* V, float* D,
                   float* R, const SumsOfRows& sums, std::int64_t first, std::int64_t last) {
    using Floats = Row<float, W>;
    constexpr std::int64_t stride = stride_of_P(W);
    const Floats a = load_row<float, W>(alpha);
    Found<W> found;
    for (std::int64_t i = first; i < last; ++i) {
        if (!share.free[i]) continue;
        store_row(D + i * W,
                  load_row<float, W>(D + i * W) + a * load_row<float, W>(P + i * stride));
        const Floats r = load_row<float, W>(R + i * W) - a * load_row<float, W>(V + i * W);
        store_row(R + i * W, r);
        measure<W>(share, i, r, found);
    }
    found.put(sums);
}

template <int W>
void turn_width(const Share& share, const float* beta, const float* shift, const float* R, float* P,
                std::int64_t first, std::int64_t last) {
    using Floats = Row<float, W>;
    constexpr std::int64_t stride = stride_of_P(W);
    const Floats b = load_row<float, W>(beta), s = load_row<float, W>(shift);
    for (std::int64_t i = first; i < last; ++i) {
        if (!share.free[i]) continue;
        const Floats r = share.inverse_diagonal[i] * load_row<float, W>(R + i * W);
        store_row(P + i * stride, (r + s) + b * load_row<float, W>(P + i * stride));
    }
}

template <int W, bool weighted>
void weigh_some(const Share& share, const Heating& heat, const double* X, float* R, int stride,
                const SumsOfRows& sums, std::int64_t first, std::int64_t last) {
    using Doubles = Row<double, W>;
    using Floats = Row<float, W>;
    const Graph& graph = share.graph;
    const std::int64_t end = graph.n_entries();
    Found<W> found;
    for (std::int64_t i = first; i < last; ++i) {
        Floats r{};
        if (share.free[i]) {
            const Doubles own = load_row<double, W>(X + i * W);
            Doubles sum = -heat.loss[i] * own;
            for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                __builtin_prefetch(X + later(graph, e, end) * W);
                const Doubles row = load_row<double, W>(X + std::int64_t{graph.ends[e]} * W);
                if constexpr (weighted) {
                    sum += graph.weights[e] * (row - own);
                } else {
                    sum += row - own;
                }
            }
            if (heat.column >= 0) sum.add(heat.column, heat.source[i]);
            r = as<float>(sum);
            measure<W>(share, i, r, found);
        }
        store_row(R + i * stride, r);
    }
    found.put(sums);
}

template <int W>
void weigh_lot(const Share& share, const Heating& heat, const double* X, float* R, int stride,
               const SumsOfRows& sums, std::int64_t first, std::int64_t last) {
    const auto rows = share.graph.weights ? weigh_some<W, true> : weigh_some<W, false>;
    rows(share, heat, X, R, stride, sums, first, last);
}

template <int W>
constexpr ShareKernels kernels_of_width = {multiply_width<W>, descend_width<W>, turn_width<W>};

}  // namespace

const ShareKernels& ISOTHERM_NAMED(share_kernels_)(int width) {
    switch (width) {
        case 4: return kernels_of_width<4>;
        case 8: return kernels_of_width<8>;
        case 12: return kernels_of_width<12>;
        default: return kernels_of_width<16>;
    }
}

WeighRows ISOTHERM_NAMED(weigh_rows_)(int columns) {
    return columns == 2 ? weigh_lot<2> : columns == 4 ? weigh_lot<4> : weigh_lot<8>;
}

}  // namespace isotherm
