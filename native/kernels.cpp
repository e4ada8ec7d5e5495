// Compiled once per instruction set, with ISOTHERM_KERNELS naming the table it defines.
#include "kernels.hpp"

#include "lanes.hpp"

namespace isotherm {
namespace {

// Entries ahead at which a row is asked for: of P, one cache line, and of doubles, mostly two. More
// would be in flight than a core keeps track of.
constexpr std::int64_t ahead = 32, doubles_ahead = 20;
// Rows, and entries of a row, after which sums in float are moved to double.
constexpr std::int64_t rows_per_sum = 32, hub = 256;

// Row i of P.
template <int W, bool Halves>
inline Row<float, W> load_direction(const void* P, std::int64_t i) {
    if constexpr (Halves) return load_row_of_halves<W>(static_cast<const std::uint16_t*>(P) + i * W);
    else return load_row<float, W>(static_cast<const float*>(P) + i * W);
}
template <int W, bool Halves>
inline void store_direction(void* P, std::int64_t i, const Row<float, W>& p) {
    if constexpr (Halves) store_row_of_halves<W>(static_cast<std::uint16_t*>(P) + i * W, p);
    else store_row(static_cast<float*>(P) + i * W, p);
}

template <int W>
inline void flush(Row<float, W>& sum, double* total, int lanes) {
    for (int l = 0; l < lanes; ++l) total[l] += sum[l];
    sum = {};
}

// Of entries (i, j): U is one number or a vector of them.
template <class U>
inline U marks(U i, U j) {
    const U lower = j < i ? U{} + 1 : U{}, upper = j > i ? U{} + 1 : U{};
    // The finaliser of SplitMix64.
    U z = ((lower ? j : i) << 32 | (lower ? i : j)) + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return upper ? z : lower ? 0 - z : U{};
}

std::uint64_t fingerprint(const std::int32_t* ends, std::int64_t count, std::int32_t i) {
    constexpr int N = register_bytes / 8;
    using U = Vec<std::uint64_t, N>;
    const auto number = static_cast<std::uint32_t>(i);
    if (count < N) {
        std::uint64_t sum = 0;
        for (std::int64_t e = 0; e < count; ++e) {
            sum += marks<std::uint64_t>(number, static_cast<std::uint32_t>(ends[e]));
        }
        return sum;
    }
    const U own = U{} + number;
    const auto numbers = [&](std::int64_t e) {
        return __builtin_convertvector((load<std::uint32_t, N>(
                                           reinterpret_cast<const std::uint32_t*>(ends + e))),
                                       U);
    };
    U sums{}, lane;
    for (int l = 0; l < N; ++l) lane[l] = static_cast<std::uint64_t>(l);
    std::int64_t e = 0;
    for (; e + N <= count; e += N) sums += marks<U>(own, numbers(e));
    // The last ones once more, of which those already seen do not count.
    const auto seen = static_cast<std::uint64_t>(e - (count - N));
    sums += lane < seen ? U{} : marks<U>(own, numbers(count - N));
    std::uint64_t sum = 0;
    for (int l = 0; l < N; ++l) sum += sums[l];
    return sum;
}

bool increases(const std::int32_t* ends, std::int64_t count) {
    constexpr int N = register_bytes / 4;
    using I = Vec<std::int32_t, N>;
    const std::int64_t pairs = count - 1;
    bool fault = false;
    if (pairs < N) {
        for (std::int64_t e = 0; e < pairs; ++e) fault |= ends[e] >= ends[e + 1];
        return !fault;
    }
    const auto faults = [&](std::int64_t e) {
        return load<std::int32_t, N>(ends + e) >= load<std::int32_t, N>(ends + e + 1);
    };
    I found = faults(pairs - N);
    for (std::int64_t e = 0; e + N <= pairs; e += N) found |= faults(e);
    for (int l = 0; l < N; ++l) fault |= found[l] != 0;
    return !fault;
}

// --- Algorithm 9.1 of Saad, Iterative Methods for Sparse Linear Systems, one α and β per lane -----

template <int W, bool Weighted, bool Halves>
void product(const Operator& M, const Vectors& x, std::int64_t first, std::int64_t last,
             double* dots) {
    using V = Row<float, W>;
    const std::int64_t* start = M.graph.start;
    const std::int32_t* ends = M.graph.ends;
    const std::int64_t stop = start[M.graph.n_nodes] - ahead;
    constexpr std::int64_t bytes = W * (Halves ? sizeof(std::uint16_t) : sizeof(float));
    const char* const rows = static_cast<const char*>(x.P);
    const double inverse_largest = 1 / M.largest_pivot;
    V sum{};
    for (std::int64_t i = first; i < last; ++i) {
        if (M.kind[i] != moving) continue;
        const auto sum_of = [&](std::int64_t e, std::int64_t e1) __attribute__((always_inline)) {
            V flow[4] = {};  // four sums, so that additions need not wait for each other
            const auto add = [&](std::int64_t at, V& into) __attribute__((always_inline)) {
                const V p = load_direction<W, Halves>(x.P, ends[at]);
                if constexpr (Weighted) {
                    into += static_cast<float>(M.graph.weights[at] * inverse_largest) * p;
                } else {
                    into += p;
                }
            };
            for (; e + 4 <= e1; e += 4) {
                if (e + 4 < stop) {
                    for (int k = 0; k < 4; ++k) {
                        __builtin_prefetch(rows + bytes * ends[e + ahead + k]);
                    }
                }
                for (int k = 0; k < 4; ++k) add(e + k, flow[k]);
            }
            for (; e < e1; ++e) {
                if (e < stop) __builtin_prefetch(rows + bytes * ends[e + ahead]);
                add(e, flow[0]);
            }
            return (flow[0] + flow[1]) + (flow[2] + flow[3]);
        };
        V total;
        if (start[i + 1] - start[i] <= hub) {
            total = sum_of(start[i], start[i + 1]);
        } else {  // in float alone, the rounding of so many terms would soon be all that is left
            Row<double, W> all;
            for (std::int64_t e = start[i]; e < start[i + 1]; e += hub) {
                const std::int64_t e1 = e + hub < start[i + 1] ? e + hub : start[i + 1];
                all += as<double>(sum_of(e, e1));
            }
            total = as<float>(all);
        }
        if constexpr (!Weighted) total = static_cast<float>(inverse_largest) * total;
        // Peeled nodes are at 0 in P: what they do is in the pivot.
        const V p = load_direction<W, Halves>(x.P, i);
        const V v = p - (1 / M.mass[i]) * total;
        store_lanes<float, W>(x.V + i * x.lanes, v, x.lanes);
        sum += M.mass[i] * p * v;
        if (i % rows_per_sum == 0) flush<W>(sum, dots, x.lanes);
    }
    flush<W>(sum, dots, x.lanes);
}

template <int W>
void descend(const Operator& M, const Vectors& x, const float* alpha, std::int64_t first,
             std::int64_t last, double* dots, float* levels, float* largest) {
    using V = Row<float, W>;
    const V step = load_row<float, W>(alpha);
    // What turns a residual in units of the pivot into one in units of the gauge; at parents of
    // peeled nodes, whose pivots are less than (1 + τ) d, a little more than that.
    const auto unit_of_degree = static_cast<float>(1 + M.leak);
    const auto unit_of_root = static_cast<float>(__builtin_sqrt((1 + M.leak) * M.largest_pivot));
    V sum{}, worst = load_row<float, W>(levels), most = load_row<float, W>(largest);
    float worst_hidden = levels[max_width];
    for (std::int64_t i = first; i < last; ++i) {
        if (M.kind[i] != moving) continue;
        float* row = x.Z + i * x.lanes;
        const V v = load_lanes<float, W>(x.V + i * x.lanes, x.lanes);
        const V z = load_lanes<float, W>(row, x.lanes) - step * v;
        store_lanes<float, W>(row, z, x.lanes);
        sum += M.mass[i] * z * v;
        const float unit = M.root ? unit_of_root * __builtin_sqrtf(M.mass[i]) : unit_of_degree;
        worst = larger(worst, unit * size_of(z));
        most = larger(most, size_of(z));
        if (x.hidden) {  // the residual of 1 − Σ x is that of −Σ x
            float total = 0;
            for (int l = 0; l < x.columns; ++l) total += z[l];
            const float level = unit * (total < 0 ? -total : total);
            worst_hidden = worst_hidden > level ? worst_hidden : level;
        }
        if (i % rows_per_sum == 0) flush<W>(sum, dots, x.lanes);
    }
    flush<W>(sum, dots, x.lanes);
    store_row(levels, worst);
    store_row(largest, most);
    levels[max_width] = worst_hidden;
}

template <int W>
void dot(const Operator& M, const Vectors& x, const float* from, std::int64_t first,
         std::int64_t last, double* dots, float* largest) {
    using V = Row<float, W>;
    V sum{}, most = load_row<float, W>(largest);
    for (std::int64_t i = first; i < last; ++i) {
        if (M.kind[i] != moving) continue;
        const V v = load_lanes<float, W>(x.V + i * x.lanes, x.lanes);
        const V y = load_lanes<float, W>(from + i * x.lanes, x.lanes);
        sum += M.mass[i] * y * v;
        most = larger(most, size_of(y));
        if (i % rows_per_sum == 0) flush<W>(sum, dots, x.lanes);
    }
    flush<W>(sum, dots, x.lanes);
    store_row(largest, most);
}

template <int G>
void substitute(const Operator& M, const Vectors& x, const Triangle& C, int lane, int count,
                float* y) {
    using V = Vec<float, G>;
    constexpr std::int64_t rows_ahead = 8;
    const std::int64_t stop = C.start[C.n] - rows_ahead;
    const auto at = [&](std::int64_t k) { return y + k * G; };
    for (std::int64_t k = 0; k < C.n; ++k) {
        const std::int64_t i = C.order[k];
        V v{};
        for (int l = 0; l < count; ++l) v[l] = M.mass[i] * x.Z[i * x.lanes + lane + l];
        std::memcpy(at(k), &v, sizeof v);
    }
    for (std::int64_t k = 0; k < C.n; ++k) {
        V own = load<float, G>(at(k));
        for (std::int64_t e = C.start[k]; e < C.start[k + 1]; ++e) {
            if (e < stop) __builtin_prefetch(at(C.rows[e + rows_ahead]), 1);
            const V below = load<float, G>(at(C.rows[e])) + C.shares[e] * own;
            std::memcpy(at(C.rows[e]), &below, sizeof below);
        }
        own *= C.inverse_pivots[k];
        std::memcpy(at(k), &own, sizeof own);
    }
    for (std::int64_t k = C.n; k-- > 0;) {
        V own[2] = {load<float, G>(at(k)), V{}};
        for (std::int64_t e = C.start[k]; e < C.start[k + 1]; ++e) {
            if (e >= rows_ahead) __builtin_prefetch(at(C.rows[e - rows_ahead]));
            own[e & 1] += C.shares[e] * load<float, G>(at(C.rows[e]));
        }
        const V v = own[0] + own[1];
        std::memcpy(at(k), &v, sizeof v);
        float* const row = x.V + std::int64_t{C.order[k]} * x.lanes + lane;
        for (int l = 0; l < count; ++l) row[l] = v[l];
    }
}

template <class T, int W, bool Halves>
void advance(const Operator& M, const Vectors& x, const float* from, const Columns<T>& X,
             double* h, const double* step, const float* beta, const float* stored,
             std::int64_t first, std::int64_t last, double* dots) {
    using V = Row<float, W>;
    const auto along = convert<T, W>(step);
    const V keep = load_row<float, W>(beta), unit = load_row<float, W>(stored);
    V sum{};
    for (std::int64_t i = first; i < last; ++i) {
        if (M.kind[i] != moving) continue;
        const V p = load_direction<W, Halves>(x.P, i);
        if (X.count > 0) {
            T* row = X.first + i * X.stride;
            const auto t = load_lanes<T, W>(row, X.count) + along * as<T>(p);
            store_lanes<T, W>(row, t, X.count);
        }
        if (h) h[i] += step[x.columns] * static_cast<double>(p[x.columns]);
        const V next = load_lanes<float, W>(from + i * x.lanes, x.lanes) + keep * p;
        store_direction<W, Halves>(x.P, i, unit * next);
        const V z = load_lanes<float, W>(x.Z + i * x.lanes, x.lanes);
        sum += M.mass[i] * z * load_direction<W, Halves>(x.P, i);
        if (i % rows_per_sum == 0) flush<W>(sum, dots, x.lanes);
    }
    flush<W>(sum, dots, x.lanes);
}

// --- fresh residuals, in double -------------------------------------------------------------------

// Of floats, a row as wide as W; of doubles, so many lanes.
template <int W>
inline Row<double, W> doubles(const float* row, int) {
    return convert<double, W>(row);
}
template <int W>
inline Row<double, W> doubles(const double* row, int lanes) {
    return load_lanes<double, W>(row, lanes);
}

// Rows of X are those of P, packed (T = float), or of X itself (double).
template <class T, int W, bool Weighted>
void residual(const Operator& M, const Task<T>& task, std::int64_t first, std::int64_t last,
              Levels& found) {
    using D = Row<double, W>;
    const std::int64_t* start = M.graph.start;
    const std::int32_t* ends = M.graph.ends;
    constexpr std::int64_t rows_ahead = sizeof(T) == 4 ? ahead : doubles_ahead;
    const std::int64_t stop = start[M.graph.n_nodes] - rows_ahead;
    const T* X = task.X;
    const std::int64_t stride = task.stride;
    const int count = task.count;  // with the lane of h, if that is packed, too
    const D inverse_scale = load_row<double, W>(task.inverse_scale);
    D most = load_row<double, W>(found.columns);
    for (std::int64_t i = first; i < last; ++i) {
        if (M.kind[i] == held) continue;
        D flow, other;  // two sums, so that additions need not wait for each other
        const auto add = [&](std::int64_t e, D& into) __attribute__((always_inline)) {
            if (e < stop) {
                const T* const row = X + stride * ends[e + rows_ahead];
                __builtin_prefetch(row);
                if (sizeof(T) == 8 && W > 4) __builtin_prefetch(row + count - 1);
            }
            const D t = doubles<W>(X + ends[e] * stride, count);
            if constexpr (Weighted) into += M.graph.weights[e] * t;
            else into += t;
        };
        std::int64_t e = start[i];
        for (; e + 2 <= start[i + 1]; e += 2) {
            add(e, flow);
            add(e + 1, other);
        }
        if (e < start[i + 1]) add(e, flow);
        flow += other;
        const double g = gauge(M, i), by_pivot = 1 / (M.mass[i] * M.largest_pivot);
        D r = flow - ((1 + M.leak) * M.degrees[i]) * doubles<W>(X + i * stride, count);
        if (const double* const heat = task.heat.at(i)) {
            r += load_lanes<double, W>(heat, count - task.packed_h);
        }
        if (task.packed_h) r.add(count - 1, g);
        most = larger_or_nan(most, (1 / g) * size_of(r));
        const auto z = as<float>(by_pivot * (r * inverse_scale));
        store_lanes(task.Z + i * task.lanes, z, task.Z_lanes);
    }
    store_row(found.columns, most);
}

// --- from numbers known at run time to those known at compile time --------------------------------

#define ISOTHERM_BY_WIDTH(width, call) \
    switch (width) {                   \
        case 2: { constexpr int W = 2; call; break; }   \
        case 4: { constexpr int W = 4; call; break; }   \
        case 8: { constexpr int W = 8; call; break; }   \
        default: { constexpr int W = 16; call; break; } \
    }

void any_product(const Operator& M, const Vectors& x, std::int64_t first, std::int64_t last,
                 double* dots) {
    if (M.graph.weights && x.halves) {
        ISOTHERM_BY_WIDTH(x.width, (product<W, true, true>(M, x, first, last, dots)))
    } else if (M.graph.weights) {
        ISOTHERM_BY_WIDTH(x.width, (product<W, true, false>(M, x, first, last, dots)))
    } else if (x.halves) {
        ISOTHERM_BY_WIDTH(x.width, (product<W, false, true>(M, x, first, last, dots)))
    } else {
        ISOTHERM_BY_WIDTH(x.width, (product<W, false, false>(M, x, first, last, dots)))
    }
}
void any_descend(const Operator& M, const Vectors& x, const float* alpha, std::int64_t first,
                 std::int64_t last, double* dots, float* levels, float* largest) {
    ISOTHERM_BY_WIDTH(x.width, (descend<W>(M, x, alpha, first, last, dots, levels, largest)))
}
void any_dot(const Operator& M, const Vectors& x, const float* from, std::int64_t first,
             std::int64_t last, double* dots, float* largest) {
    ISOTHERM_BY_WIDTH(x.width, (dot<W>(M, x, from, first, last, dots, largest)))
}
void any_substitute(const Operator& M, const Vectors& x, const Triangle& C, int lane, int count,
                    int group, float* y) {
    group == 8 ? substitute<8>(M, x, C, lane, count, y) : substitute<4>(M, x, C, lane, count, y);
}
template <class T>
void any_advance(const Operator& M, const Vectors& x, const float* from, const Columns<T>& X,
                 double* h, const double* step, const float* beta, const float* stored,
                 std::int64_t first, std::int64_t last, double* dots) {
    if (x.halves) {
        ISOTHERM_BY_WIDTH(
            x.width, (advance<T, W, true>(M, x, from, X, h, step, beta, stored, first, last, dots)))
    } else {
        ISOTHERM_BY_WIDTH(
            x.width, (advance<T, W, false>(M, x, from, X, h, step, beta, stored, first, last, dots)))
    }
}
template <class T>
void any_residual(const Operator& M, const Task<T>& task, std::int64_t first, std::int64_t last,
                  Levels& found) {
    const int width = width_for(task.count);
    if (M.graph.weights) {
        ISOTHERM_BY_WIDTH(width, (residual<T, W, true>(M, task, first, last, found)))
    } else {
        ISOTHERM_BY_WIDTH(width, (residual<T, W, false>(M, task, first, last, found)))
    }
}

#define ISOTHERM_TEXT_OF(x) #x
#define ISOTHERM_TEXT(x) ISOTHERM_TEXT_OF(x)
#define ISOTHERM_JOIN_OF(a, b) a##b
#define ISOTHERM_JOIN(a, b) ISOTHERM_JOIN_OF(a, b)

constexpr Kernels table = {
    ISOTHERM_TEXT(ISOTHERM_KERNELS), fingerprint,          increases,
    any_product,                     any_descend,          any_dot,
    any_substitute,                  any_advance<float>,   any_advance<double>,
    any_residual<float>,             any_residual<double>,
    ISOTHERM_JOIN(prover_, ISOTHERM_KERNELS),
};

}  // namespace

const Kernels& ISOTHERM_JOIN(kernels_, ISOTHERM_KERNELS)() { return table; }

}  // namespace isotherm
