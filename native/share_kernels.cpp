// Compiled once per instruction set, with ISOTHERM_KERNELS naming what it defines. See share.hpp.
#include <cstring>

#include "share.hpp"

namespace isotherm {
namespace {

constexpr std::int64_t ahead = 24;  // entries by which rows are fetched before they are needed

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

// Sums and maxima of the columns, of some rows.
template <int W>
struct Found {
    typename Row<W>::doubles dots{};
    typename Row<W>::floats levels{};

    void put(double* all_dots, float* all_levels) const {
        store(all_dots, dots);
        if (all_levels) store(all_levels, levels);
    }
};

template <int W>
inline void measure(Found<W>& found, const typename Row<W>::floats& r, float by_diagonal,
                    float by_gauge) {
    using Floats = typename Row<W>::floats;
    found.dots += __builtin_convertvector(r * r * by_diagonal, typename Row<W>::doubles);
    const Floats size = (r < 0 ? -r : r) * by_gauge;
    // NaN stays one.
    const Floats larger = found.levels >= size ? found.levels : size;
    found.levels = found.levels != found.levels ? found.levels : larger;
}

inline std::int64_t later(const Graph& graph, std::int64_t e, std::int64_t end) {
    return graph.ends[e + ahead < end ? e + ahead : end - 1];
}

template <int W, bool weighted>
void multiply_rows(const Share& share, const float* P, float* V, double* dots, std::int64_t first,
                   std::int64_t last) {
    using Floats = typename Row<W>::floats;
    const Graph& graph = share.graph;
    const std::int64_t end = graph.n_entries();
    Found<W> found;
    for (std::int64_t i = first; i < last; ++i) {
        Floats product{};
        if (share.free[i]) {
            const auto term = [&](std::int64_t e) __attribute__((always_inline)) {
                __builtin_prefetch(P + later(graph, e, end) * W);
                const Floats row = load<Floats>(P + std::int64_t{graph.ends[e]} * W);
                if constexpr (weighted) return row * static_cast<float>(graph.weights[e]);
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
            const Floats own = load<Floats>(P + i * W);
            product = own * share.diagonal[i] - sum;
            found.dots += __builtin_convertvector(own * product, typename Row<W>::doubles);
        }
        store(V + i * W, product);
    }
    found.put(dots, nullptr);
}

template <int W>
void multiply_width(const Share& share, const float* P, float* V, double* dots, std::int64_t first,
                    std::int64_t last) {
    const auto rows = share.graph.weights ? multiply_rows<W, true> : multiply_rows<W, false>;
    rows(share, P, V, dots, first, last);
}

template <int W>
void descend_width(const Share& share, const float* alpha, const float* P, const float* V, float* D,
                   float* R, double* dots, float* levels, std::int64_t first, std::int64_t last) {
    using Floats = typename Row<W>::floats;
    const Floats a = load<Floats>(alpha);
    Found<W> found;
    for (std::int64_t i = first; i < last; ++i) {
        if (!share.free[i]) continue;
        store(D + i * W, load<Floats>(D + i * W) + a * load<Floats>(P + i * W));
        const Floats r = load<Floats>(R + i * W) - a * load<Floats>(V + i * W);
        store(R + i * W, r);
        measure<W>(found, r, share.inverse_diagonal[i], share.inverse_gauge[i]);
    }
    found.put(dots, levels);
}

template <int W>
void turn_width(const Share& share, const float* beta, const float* R, float* P, std::int64_t first,
                std::int64_t last) {
    using Floats = typename Row<W>::floats;
    const Floats b = load<Floats>(beta);
    for (std::int64_t i = first; i < last; ++i) {
        if (!share.free[i]) continue;
        const Floats r = load<Floats>(R + i * W) * share.inverse_diagonal[i];
        store(P + i * W, r + b * load<Floats>(P + i * W));
    }
}

template <int W, bool weighted>
void weigh_rows(const Share& share, const Heating& heat, const double* X, float* R, double* dots,
                float* levels, std::int64_t first, std::int64_t last) {
    using Doubles = typename Row<W>::doubles;
    using Floats = typename Row<W>::floats;
    const Graph& graph = share.graph;
    const std::int64_t end = graph.n_entries();
    Found<W> found;
    for (std::int64_t i = first; i < last; ++i) {
        Floats r{};
        if (share.free[i]) {
            const Doubles own = load<Doubles>(X + i * W);
            Doubles sum = own * -heat.loss[i];
            for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                __builtin_prefetch(X + later(graph, e, end) * W);
                __builtin_prefetch(X + later(graph, e, end) * W + W / 2);
                const Doubles row = load<Doubles>(X + std::int64_t{graph.ends[e]} * W);
                if constexpr (weighted) {
                    sum += (row - own) * graph.weights[e];
                } else {
                    sum += row - own;
                }
            }
            if (heat.column >= 0) sum[heat.column] += heat.source[i];
            r = __builtin_convertvector(sum, Floats);
            measure<W>(found, r, share.inverse_diagonal[i], share.inverse_gauge[i]);
        }
        store(R + i * W, r);
    }
    found.put(dots, levels);
}

template <int W>
void weigh_width(const Share& share, const Heating& heat, const double* X, float* R, double* dots,
                 float* levels, std::int64_t first, std::int64_t last) {
    const auto rows = share.graph.weights ? weigh_rows<W, true> : weigh_rows<W, false>;
    rows(share, heat, X, R, dots, levels, first, last);
}

template <int W>
constexpr ShareKernels kernels_of_width = {multiply_width<W>, descend_width<W>, turn_width<W>,
                                           weigh_width<W>};

}  // namespace

#define ISOTHERM_JOIN(a, b) a##b
#define ISOTHERM_NAME(name) ISOTHERM_JOIN(share_kernels_, name)

const ShareKernels& ISOTHERM_NAME(ISOTHERM_KERNELS)(int width) {
    return width == 4 ? kernels_of_width<4> : width == 8 ? kernels_of_width<8>
                                                         : kernels_of_width<16>;
}

}  // namespace isotherm
