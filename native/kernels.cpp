// Compiled once per instruction set, with ISOTHERM_KERNELS naming the table it defines.
#include "kernels.hpp"

#include "instruction_set.hpp"
#include "lane_count.hpp"
#include "lanes.hpp"
#include "marks.hpp"

namespace isotherm {
namespace {

// Entries ahead at which a row is asked for: of P, one cache line, and of doubles, mostly two. More
// would be in flight than a core keeps track of.
constexpr std::int64_t ahead = 32, doubles_ahead = 20;
// Tiles of rows, and entries of a row, after which sums in float are moved to double.
constexpr std::int64_t tiles_per_sum = 32, hub = 256;

// Two ends by one load, of which a core makes no more than a few at a time: the first in the lower
// half.
inline std::uint64_t two_ends(const std::int32_t* ends) {
    std::uint64_t both;
    __builtin_memcpy(&both, ends, sizeof both);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    both = both << 32 | both >> 32;
#endif
    return both;
}

// Two rows of two floats.
using Pairs = Vec<float, 4>;
inline Pairs load_pairs(const void* P, std::int64_t i, std::int64_t j) {
    const auto* const rows = static_cast<const double*>(P);  // only ever moved
    const Vec<double, 2> both = {rows[i], rows[j]};
    return reinterpret_cast<Pairs>(both);
}

// Four rows of one half, and of two.
inline Vec<float, 4> load_four_halves(const std::uint16_t* rows, const std::int32_t* ends) {
    const std::uint64_t a = two_ends(ends), b = two_ends(ends + 2);
    return four_halves(rows[a & 0xffffffffu], rows[a >> 32], rows[b & 0xffffffffu], rows[b >> 32]);
}
inline Vec<float, 8> load_four_pairs(const void* P, const std::int32_t* ends) {
    const auto* const rows = static_cast<const std::uint32_t*>(P);  // only ever moved
    const std::uint64_t a = two_ends(ends), b = two_ends(ends + 2);
    const Vec<std::uint32_t, 4> four = {rows[a & 0xffffffffu], rows[a >> 32], rows[b & 0xffffffffu],
                                        rows[b >> 32]};
    std::uint16_t halves[8];
    __builtin_memcpy(halves, &four, sizeof four);
    return load_halves<8>(halves);
}

inline Vec<float, 8> each_twice(Vec<float, 4> v) {
    return picked<float>(v, std::integer_sequence<int, 0, 0, 1, 1, 2, 2, 3, 3>());
}

// Row i of P.
template <int W, bool Halves>
inline Row<float, W> load_direction(const void* P, std::int64_t i) {
    if constexpr (Halves) return load_row_of_halves<W>(static_cast<const std::uint16_t*>(P) + i * W);
    else return load_row<float, W>(static_cast<const float*>(P) + i * W);
}

// --- rows of a graph ------------------------------------------------------------------------------

bool never_fall(const std::int64_t* start, std::int64_t n_rows) {
    std::int64_t fewer = 0;  // as wide as they are, so that several are compared at a time
    for (std::int64_t i = 0; i < n_rows; ++i) fewer |= start[i] > start[i + 1] ? 1 : 0;
    return fewer == 0;
}

bool are_nodes(const std::int32_t* ends, std::int64_t count, std::int64_t n_nodes) {
    const auto last = static_cast<std::uint32_t>(n_nodes - 1);
    std::uint32_t seen = 0;  // its first bit is set by a number below 0, or by one above the last
    for (std::int64_t e = 0; e < count; ++e) {
        const auto end = static_cast<std::uint32_t>(ends[e]);
        seen |= end | (last - end);
    }
    return seen >> 31 == 0;
}

// The entries of some rows one after the other: rows are short, and no processor could foresee where
// each of them ends.
constexpr std::int64_t entries_at_once = 1024;

// The fingerprint of entries, of which `rows` are the rows.
std::uint64_t fingerprint(const std::uint32_t* rows, const std::uint32_t* ends, std::int64_t count,
                          std::uint64_t key) {
    constexpr int N = register_bytes / 8;
    using U = Vec<std::uint64_t, N>;
    const auto numbers = [](const std::uint32_t* from) {
        return __builtin_convertvector((load<std::uint32_t, N>(from)), U);
    };
    U sums{};
    std::int64_t e = 0;
    for (; e + N <= count; e += N) sums += marks<U>(numbers(rows + e), numbers(ends + e), key);
    std::uint64_t sum = 0;
    for (; e < count; ++e) sum += marks<std::uint64_t>(rows[e], ends[e], key);
    for (int l = 0; l < N; ++l) sum += sums[l];
    return sum;
}

// Whether they are nodes, and increase from one to the next of the same row.
bool are_sorted(const std::uint32_t* rows, const std::uint32_t* ends, std::int64_t count,
                std::uint32_t n_nodes) {
    constexpr int N = register_bytes / 4;
    using U = Vec<std::uint32_t, N>;
    const auto faults = [n_nodes](auto row, auto next_row, auto end, auto next_end) {
        return ((row == next_row) & (end >= next_end)) | (end >= n_nodes);
    };
    auto found = U{} != U{};
    std::int64_t e = 0;
    for (; e + N < count; e += N) {
        found |= faults(load<std::uint32_t, N>(rows + e), load<std::uint32_t, N>(rows + e + 1),
                        load<std::uint32_t, N>(ends + e), load<std::uint32_t, N>(ends + e + 1));
    }
    bool fault = ends[count - 1] >= n_nodes;
    for (; e + 1 < count; ++e) fault |= faults(rows[e], rows[e + 1], ends[e], ends[e + 1]);
    for (int l = 0; l < N; ++l) fault |= found[l] != 0;
    return !fault;
}

RowsSeen look(const Graph& graph, std::int64_t first, std::int64_t last, std::uint64_t key) {
    constexpr std::int64_t at_a_time = 16;
    using Numbers = Vec<std::uint32_t, at_a_time>;
    const auto* const ends = reinterpret_cast<const std::uint32_t*>(graph.ends);
    std::uint32_t rows[entries_at_once + at_a_time];
    RowsSeen seen{0, true};
    std::int64_t row = first;
    const std::int64_t end = graph.start[last];
    for (std::int64_t begin = graph.start[first]; begin < end; begin += entries_at_once) {
        const std::int64_t count = end - begin < entries_at_once ? end - begin : entries_at_once;
        for (; row < last && graph.start[row] < begin + count; ++row) {
            const std::int64_t from = graph.start[row] - begin, to = graph.start[row + 1] - begin;
            const Numbers number = Numbers{} + static_cast<std::uint32_t>(row);
            for (std::int64_t k = from < 0 ? 0 : from; k < (to < count ? to : count); k += at_a_time) {
                store<std::uint32_t, at_a_time>(rows + k, number);
            }
            if (to <= count) continue;  // else it goes on beyond these
            seen.sorted &= ends[begin + count - 1] < ends[begin + count];
            break;
        }
        seen.fingerprint += fingerprint(rows, ends + begin, count, key);
        seen.sorted &= are_sorted(rows, ends + begin, count, static_cast<std::uint32_t>(graph.n_nodes));
    }
    return seen;
}

// --- rows of a system -----------------------------------------------------------------------------

// As many narrow rows as make 16 numbers, or one wide row.
using Tile = Row<float, max_width>;
template <int W>
constexpr int rows_per_tile = max_width / W;
template <int W>
constexpr std::int64_t rows_per_sum = tiles_per_sum * rows_per_tile<W>;

template <int W>
inline Tile load_tile(const float* from, std::int64_t i, int stride) {
    if constexpr (W == max_width) return load_lanes<float, W>(from + i * stride, stride);
    else return load_row<float, max_width>(from + i * W);
}
template <int W>
inline void store_tile(float* to, std::int64_t i, int stride, const Tile& tile) {
    if constexpr (W == max_width) store_lanes(to + i * stride, tile, stride);
    else store_row(to + i * W, tile);
}
template <int W, bool Halves>
inline Tile load_directions(const void* P, std::int64_t i) {
    if constexpr (Halves) {
        return load_row_of_halves<max_width>(static_cast<const std::uint16_t*>(P) + i * W);
    } else {
        return load_row<float, max_width>(static_cast<const float*>(P) + i * W);
    }
}
// What is stored, rounded as it is; `shared`: for others to read.
template <int W, bool Halves>
inline Tile store_directions(void* P, std::int64_t i, const Tile& p, bool shared) {
    if constexpr (Halves) {
        std::uint16_t* const to = static_cast<std::uint16_t*>(P) + i * W;
        if (!shared) {
            store_row_of_halves<max_width>(to, p);
            return load_row_of_halves<max_width>(to);
        }
        std::uint16_t halves[max_width];
        store_row_of_halves<max_width>(halves, p);
        constexpr int per = Tile::per;
        for (int k = 0; k < max_width; k += per) stream(to + k, load<std::uint16_t, per>(halves + k));
        return load_row_of_halves<max_width>(halves);
    } else {
        float* const to = static_cast<float*>(P) + i * W;
        if (!shared) store_row(to, p);
        for (int k = 0; shared && k < Tile::parts; ++k) stream(to + k * Tile::per, p.part[k]);
        return p;
    }
}

// W numbers, once for each row of a tile.
template <int W, class T>
inline Row<T, max_width> repeated(const T* numbers) {
    T all[max_width];
    for (int l = 0; l < max_width; ++l) all[l] = numbers[l % W];
    return load_row<T, max_width>(all);
}

// A sum of tiles over rows, in float at first and every so many rows moved to double.
template <int W>
class TileSum {
public:
    void operator+=(const Tile& tile) { some_ += tile; }
    void flush() {
        all_ += as<double>(some_);
        some_ = {};
    }
    // Adds the rows of the tile to sums of lanes.
    void add_to(double* lanes) {
        flush();
        for (int l = 0; l < max_width; ++l) lanes[l % W] += all_[l];
    }

private:
    Tile some_{};
    Row<double, max_width> all_{};
};
template <int W>
inline void raise(const Tile& most, float* largest) {
    for (int l = 0; l < max_width; ++l) {
        largest[l % W] = largest[l % W] > most[l] ? largest[l % W] : most[l];
    }
}

// --- Algorithm 9.1 of Saad, Iterative Methods for Sparse Linear Systems, one α and β per lane -----

enum class Weights { ones, floats, doubles };

template <int W, Weights kind, bool Halves>
void product(const System& M, const Vectors& x, std::int64_t first, std::int64_t last,
             double* dots) {
    using V = Row<float, W>;
    const std::int64_t* start = M.start;
    const std::int32_t* ends = M.ends;
    constexpr std::int64_t bytes = bytes_per_row(W, Halves);
    const bool asks = M.n_rows * bytes > near_bytes;
    const std::int64_t stop = asks ? start[M.n_rows] - ahead : 0;
    constexpr std::int64_t bytes_of_weight =
        kind == Weights::ones ? 0 : kind == Weights::floats ? sizeof(float) : sizeof(double);
    const std::int64_t stop_of_entries =
        ask_for_entries_until(start[M.n_rows], sizeof(std::int32_t) + bytes_of_weight);
    const std::int64_t stop_of_all = stop > stop_of_entries ? stop : stop_of_entries;
    const char* const rows = static_cast<const char*>(x.P);
    const auto sum_of_row = [&](std::int64_t i) __attribute__((always_inline)) {
        const auto sum_of = [&](std::int64_t e, std::int64_t e1) __attribute__((always_inline)) {
            const auto weight = [&](std::int64_t at) __attribute__((always_inline)) {
                if constexpr (kind == Weights::floats) return M.weights[at];
                else return static_cast<float>(M.graph_weights[at] * M.weight_unit);
            };
            const auto weights_from = [&](std::int64_t at) __attribute__((always_inline)) {
                if constexpr (kind == Weights::floats) return load<float, 4>(M.weights + at);
                else return Vec<float, 4>{weight(at), weight(at + 1), weight(at + 2), weight(at + 3)};
            };
            const auto some_weights_from = [&](std::int64_t at, std::int64_t to)
                                               __attribute__((always_inline)) {
                const int count = static_cast<int>(to - at);
                if constexpr (kind == Weights::floats) return load_some<float, 4>(M.weights + at, count);
                Vec<float, 4> some{};
                for (int k = 0; k < count; ++k) some[k] = weight(at + k);
                return some;
            };
            const auto term = [&](std::int64_t at) __attribute__((always_inline)) {
                const V p = load_direction<W, Halves>(x.P, ends[at]);
                if constexpr (kind == Weights::ones) return p;
                else return weight(at) * p;
            };
            const auto ask_for_four = [&](std::int64_t at) __attribute__((always_inline)) {
                if (at >= stop_of_all) return;
                if (at < stop_of_entries) {
                    const std::int64_t later = at + entries_ahead;
                    __builtin_prefetch(ends + later, 0, 0);
                    if (kind == Weights::floats) __builtin_prefetch(M.weights + later, 0, 0);
                    if (kind == Weights::doubles) __builtin_prefetch(M.graph_weights + later, 0, 0);
                }
                if (at + 4 >= stop) return;
                for (int k = 0; k < 4; ++k) __builtin_prefetch(rows + bytes * ends[at + ahead + k]);
            };
            V sums{};
            if constexpr (W == 1 && Halves) {  // four entries to a register
                const auto* const p = static_cast<const std::uint16_t*>(x.P);
                Vec<float, 4> four{};
                for (; e + 4 <= e1; e += 4) {
                    ask_for_four(e);
                    if constexpr (kind == Weights::ones) four += load_four_halves(p, ends + e);
                    else four += weights_from(e) * load_four_halves(p, ends + e);
                }
                if (e < e1) {  // up to three more: rows as long as this one are near it
                    const bool second = e + 1 < e1, third = e + 2 < e1;
                    const Vec<float, 4> rest = four_halves(
                        p[ends[e]], second ? p[ends[e + 1]] : 0, third ? p[ends[e + 2]] : 0, 0);
                    if constexpr (kind == Weights::ones) four += rest;
                    else four += some_weights_from(e, e1) * rest;
                }
                sums.part[0][0] = (four[0] + four[1]) + (four[2] + four[3]);
                return sums;
            } else if constexpr (W == 1) {
                const auto* const p = static_cast<const float*>(x.P);
                const auto four_from = [&](std::int64_t k) __attribute__((always_inline)) {
                    return Vec<float, 4>{p[ends[k]], p[ends[k + 1]], p[ends[k + 2]], p[ends[k + 3]]};
                };
                float a = 0, b = 0, c = 0, d = 0;  // so that additions need not wait for each other
                Vec<float, 4> four{};
                for (; e + 4 <= e1; e += 4) {
                    ask_for_four(e);
                    if constexpr (kind == Weights::ones) {  // quicker one by one
                        a += p[ends[e]];
                        b += p[ends[e + 1]];
                        c += p[ends[e + 2]];
                        d += p[ends[e + 3]];
                    } else {
                        four += weights_from(e) * four_from(e);
                    }
                }
                for (; e < e1; ++e) {
                    if (e < stop) __builtin_prefetch(rows + bytes * ends[e + ahead]);
                    if constexpr (kind == Weights::ones) a += p[ends[e]];
                    else a += weight(e) * p[ends[e]];
                }
                sums.part[0][0] = (a + b) + (c + d) + ((four[0] + four[1]) + (four[2] + four[3]));
            } else if constexpr (W == 2 && Halves) {  // four entries to a register
                Vec<float, 8> four{};
                for (; e + 4 <= e1; e += 4) {
                    ask_for_four(e);
                    const Vec<float, 8> p = load_four_pairs(x.P, ends + e);
                    if constexpr (kind == Weights::ones) four += p;
                    else four += each_twice(weights_from(e)) * p;
                }
                sums.part[0] = Vec<float, 2>{(four[0] + four[2]) + (four[4] + four[6]),
                                             (four[1] + four[3]) + (four[5] + four[7])};
            } else if constexpr (W == 2) {  // two entries to a register
                Pairs two[2] = {};
                for (; e + 4 <= e1; e += 4) {
                    ask_for_four(e);
                    for (int k = 0; k < 2; ++k) {
                        const Pairs p = load_pairs(x.P, ends[e + 2 * k], ends[e + 2 * k + 1]);
                        const std::int64_t at = e + 2 * k;
                        if constexpr (kind == Weights::ones) two[k] += p;
                        else two[k] += Pairs{weight(at), weight(at), weight(at + 1), weight(at + 1)} * p;
                    }
                }
                const Pairs all = two[0] + two[1];
                sums.part[0] = Vec<float, 2>{all[0] + all[2], all[1] + all[3]};
            } else if (e + 4 <= e1) {
                V four[4] = {};  // so that additions need not wait for each other
                for (; e + 4 <= e1; e += 4) {
                    ask_for_four(e);
                    for (int k = 0; k < 4; ++k) four[k] += term(e + k);
                }
                sums = (four[0] + four[1]) + (four[2] + four[3]);
            }
            for (; e < e1; ++e) {
                if (e < stop) __builtin_prefetch(rows + bytes * ends[e + ahead]);
                sums += term(e);
            }
            return sums;
        };
        if (start[i + 1] - start[i] <= hub) return sum_of(start[i], start[i + 1]);
        // In float alone, the rounding of so many terms would soon be all that is left.
        Row<double, W> all;
        for (std::int64_t e = start[i]; e < start[i + 1]; e += hub) {
            const std::int64_t e1 = e + hub < start[i + 1] ? e + hub : start[i + 1];
            all += as<double>(sum_of(e, e1));
        }
        return as<float>(all);
    };
    const float unit = kind == Weights::ones ? static_cast<float>(M.weight_unit) : 1.0f;
    TileSum<W> sum;
    for (std::int64_t i = first; i < last; i += max_width) {
        for (std::int64_t row = i; row < last && row < i + max_width; ++row) {
            const bool sums = M.mass[row] > 0 && (!x.reached || x.reached[row]);
            const V flow = sums ? sum_of_row(row) : V{};
            store_lanes<float, W>(x.V + row * x.stride, flow, x.stride);
        }
        float inverse[2 * max_width] = {};
        store_row(inverse, inverse_or_0(load_row<float, max_width>(M.mass + i)));
        for (std::int64_t row = i; row < last && row < i + max_width; row += rows_per_tile<W>) {
            const Tile p = load_directions<W, Halves>(x.P, row);
            const Tile flow = unit * load_tile<W>(x.V, row, x.stride);
            const Tile v = p - spread<W>(inverse + (row - i)) * flow;
            store_tile<W>(x.V, row, x.stride, v);
            sum += spread<W>(M.mass + row) * p * v;
        }
        if (i % rows_per_sum<W> == 0) sum.flush();
    }
    sum.add_to(dots);
}

// Sums that belong to the same rows.
template <int W>
class DotsOfTiles {
public:
    // Those of the rows from i on; y: Z or what is taken for it.
    void add(const System& M, std::int64_t i, const Tile& z, const Tile& y, const Tile& v) {
        const Tile mass = spread<W>(M.mass + i);
        flow_ += mass * y * v;
        heat_ += mass * z;
        leaving_ += spread<W>(M.exits + i) * z;
    }
    void flush() {
        flow_.flush();
        heat_.flush();
        leaving_.flush();
    }
    void add_to(Dots& dots) {
        flow_.add_to(dots.flow);
        heat_.add_to(dots.heat);
        leaving_.add_to(dots.leaving);
    }

private:
    TileSum<W> flow_, heat_, leaving_;
};

template <int W>
void descend(const System& M, const Vectors& x, const float* alpha, std::int64_t first,
             std::int64_t last, Dots& dots, float* levels, float* largest) {
    const Tile step = repeated<W>(alpha);
    DotsOfTiles<W> sums;
    Tile worst{}, most{}, worst_hidden{};
    float columns[W] = {};
    for (int l = 0; l < x.columns; ++l) columns[l] = 1;
    const Tile is_column = repeated<W>(columns);
    const Tile unit = M.unit * broadcast<max_width>(1.0f);
    for (std::int64_t i = first; i < last; i += rows_per_tile<W>) {
        const Tile v = load_tile<W>(x.V, i, x.stride);
        const Tile z = load_tile<W>(x.Z, i, x.stride) - step * v;
        store_tile<W>(x.Z, i, x.stride, z);
        sums.add(M, i, z, z, v);
        const Tile units = M.units  ? spread<W>(M.units + i)
                           : M.root ? unit * root_of(spread<W>(M.mass + i))
                                    : unit;
        const Tile in_gauges = units * z;
        worst = larger(worst, size_of(in_gauges));
        most = larger(most, size_of(z));
        if (x.hidden) {  // the residual of 1 − Σ x is that of −Σ x
            worst_hidden = larger(worst_hidden, size_of(sums_of_rows<W>(is_column * in_gauges)));
        }
        if (i % rows_per_sum<W> == 0) sums.flush();
    }
    sums.add_to(dots);
    raise<W>(worst, levels);
    raise<W>(most, largest);
    for (int l = 0; l < max_width; ++l) {
        levels[max_width] = levels[max_width] > worst_hidden[l] ? levels[max_width] : worst_hidden[l];
    }
}

template <int W>
void dot(const System& M, const Vectors& x, const float* from, std::int64_t first,
         std::int64_t last, Dots& dots, float* largest) {
    DotsOfTiles<W> sums;
    Tile most{};
    for (std::int64_t i = first; i < last; i += rows_per_tile<W>) {
        const Tile v = load_tile<W>(x.V, i, x.stride), y = load_tile<W>(from, i, x.stride);
        sums.add(M, i, load_tile<W>(x.Z, i, x.stride), y, v);
        most = larger(most, size_of(y));
        if (i % rows_per_sum<W> == 0) sums.flush();
    }
    sums.add_to(dots);
    raise<W>(most, largest);
}

template <int W>
void lift(const System& M, const Vectors& x, const float* rise, std::int64_t first,
          std::int64_t last) {
    const Tile up = repeated<W>(rise);
    for (std::int64_t i = first; i < last; i += rows_per_tile<W>) {
        const Tile by_mass = inverse_or_0(spread<W>(M.mass + i));
        const Tile z = load_tile<W>(x.Z, i, x.stride) - up * (spread<W>(M.exits + i) * by_mass);
        store_tile<W>(x.Z, i, x.stride, z);
    }
}

// Its own number and those of row k of a triangle.
template <int G>
inline Row<float, G> gathered(const Row<float, G>& own, const Triangle& L, std::int64_t k,
                              const float* y) {
    Row<float, G> sums[2] = {own, {}};
    std::int64_t e = L.start[k];
    const std::int64_t e1 = L.start[k + 1];
    const auto term = [&](std::int64_t at) __attribute__((always_inline)) {
        return L.shares[at] * load_row<float, G>(y + std::int64_t{L.ends[at]} * G);
    };
    for (; e + 2 <= e1; e += 2) {
        sums[0] += term(e);
        sums[1] += term(e + 1);
    }
    if (e < e1) sums[0] += term(e);
    return sums[0] + sums[1];
}

template <int G>
void substitute(const System& M, const Vectors& x, const Triangles& C, int lane, int count,
                float* y) {
    using V = Row<float, G>;
    for (std::int64_t k = 0; k < C.n; ++k) {
        const std::int64_t i = C.order[k];
        const V z = M.mass[i] * load_lanes<float, G>(x.Z + i * x.stride + lane, count);
        store_row(y + k * G, gathered<G>(z, C.by_row, k, y));
    }
    for (std::int64_t k = C.n; k-- > 0;) {
        const V own = C.inverse_pivots[k] * load_row<float, G>(y + k * G);
        const V v = gathered<G>(own, C.by_column, k, y);
        store_row(y + k * G, v);
        store_lanes(x.V + std::int64_t{C.order[k]} * x.stride + lane, v, count);
    }
}

template <class T, int W, bool Halves>
void advance(const System& M, const Vectors& x, const float* from, const Columns<T>& X,
             double* h, const double* step, const Turn& turn, std::int64_t first,
             std::int64_t last, double* dots) {
    constexpr int rows = rows_per_tile<W>;
    void* const P = x.P;
    const float* const Z = x.Z;
    const float* const mass = M.mass;
    const int stride = x.stride, columns = x.columns;
    T steps[W] = {};
    for (int l = 0; l < X.count; ++l) steps[l] = static_cast<T>(step[l]);
    const auto along = repeated<W>(steps);
    const auto along_row = load_row<T, W>(steps);
    const Tile shift = repeated<W>(turn.shift), keep = repeated<W>(turn.beta);
    const Tile unit = repeated<W>(turn.inverse_units);
    const bool flat = X.full_rows && X.stride == W;
    TileSum<W> sum;
    for (std::int64_t i = first; i < last; i += rows) {
        const Tile p = load_directions<W, Halves>(P, i);
        const auto here = static_cast<int>(last - i < rows ? last - i : rows);
        if (X.count > 0 && flat) {  // nothing beyond its last row is ours
            T* const row = X.first + i * W;
            const auto t = load_lanes<T, max_width>(row, here * W) + along * as<T>(p);
            store_lanes<T, max_width>(row, t, here * W);
        } else if (X.count > 0) {
            float directions[max_width];
            store_row(directions, p);
            for (int r = 0; r < here; ++r) {
                T* const row = X.first + (i + r) * X.stride;
                const auto t = load_lanes<T, W>(row, X.count) +
                               along_row * convert<T, W>(directions + r * W);
                store_lanes<T, W>(row, t, X.count);
            }
        }
        if (h) {
            for (int r = 0; r < here; ++r) {
                h[i + r] += step[columns] * static_cast<double>(p[r * W + columns]);
            }
        }
        const Tile masses = spread<W>(mass + i);
        const Tile shifted = load_tile<W>(from, i, stride) + where_positive(masses, shift);
        const Tile stored = store_directions<W, Halves>(P, i, unit * (shifted + keep * p), x.shared);
        sum += masses * load_tile<W>(Z, i, stride) * stored;
        if (i % rows_per_sum<W> == 0) sum.flush();
    }
    sum.add_to(dots);
    if (x.shared) end_of_stream();
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
    const auto write = [&](std::int64_t i, const Row<float, W>& z) {
        const std::int64_t row = task.row_of ? task.row_of[i] : i;
        if (row >= 0) store_lanes(task.Z + row * task.stride_of_Z, z, task.lanes);
    };
    const D inverse_scale = load_row<double, W>(task.inverse_scale);
    D most = load_row<double, W>(found.columns);
    for (std::int64_t i = first; i < last; ++i) {
        if (M.kind[i] == held) {
            write(i, {});
            continue;
        }
        D flow, other;  // two sums, so that additions need not wait for each other
        const auto add = [&](std::int64_t e, D& into) __attribute__((always_inline)) {
            if (e < stop) {
                const T* const later = X + stride * ends[e + rows_ahead];
                __builtin_prefetch(later);
                if (sizeof(T) == 8 && W > 4) __builtin_prefetch(later + count - 1);
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
        if (task.hidden) {  // the residual of 1 − Σ x is that of −Σ x
            double sum = 0;
            for (int l = 0; l < count - task.packed_h; ++l) sum += r[l];
            const double level = __builtin_fabs(sum) / g;
            if (!(level <= found.hidden)) found.hidden = level;
        }
        if (M.kind[i] == moving) write(i, as<float>(by_pivot * (r * inverse_scale)));
        else write(i, {});
    }
    store_row(found.columns, most);
}

// --- nodes that were eliminated --------------------------------------------------------------------

template <class T, int N>
void hang(const Folded& fold, const Columns<T>& X, double* h, const double* low, const double* high,
          const double* heat) {
    T least[N + 1], most[N + 1];
    for (int l = 0; l < N; ++l) least[l] = static_cast<T>(low[l]);
    for (int l = 0; l < N; ++l) most[l] = static_cast<T>(high[l]);
    for (std::int64_t k = fold.count; k-- > 0;) {
        const std::int64_t i = fold.nodes[k];
        double sums[N + 1], time = fold.rise[k];
        for (int l = 0; l < N; ++l) sums[l] = heat[i * N + l] * fold.inverse_pivots[k];
        for (std::int64_t e = fold.start[k]; e < fold.start[k + 1]; ++e) {
            const T* const row = X.first + fold.ends[e] * X.stride;
            for (int l = 0; l < N; ++l) sums[l] += fold.ratios[e] * row[l];
            if (h) time += fold.ratios[e] * h[fold.ends[e]];
        }
        T* const own = X.first + i * X.stride;
        for (int l = 0; l < N; ++l) {  // a ratio may round up
            const T value = static_cast<T>(sums[l]);
            own[l] = value < least[l] ? least[l] : value > most[l] ? most[l] : value;
        }
        if (h) h[i] = time;
    }
}

// --- from numbers known at run time to those known at compile time --------------------------------

#define ISOTHERM_BY_WIDTH(width, call) \
    switch (width) {                   \
        case 1: { constexpr int W = 1; call; break; }   \
        case 2: { constexpr int W = 2; call; break; }   \
        case 4: { constexpr int W = 4; call; break; }   \
        case 8: { constexpr int W = 8; call; break; }   \
        default: { constexpr int W = 16; call; break; } \
    }

template <Weights kind, bool Halves>
void product_of(const System& M, const Vectors& x, std::int64_t first, std::int64_t last,
                double* dots) {
    ISOTHERM_BY_WIDTH(x.width, (product<W, kind, Halves>(M, x, first, last, dots)))
}
void any_product(const System& M, const Vectors& x, std::int64_t first, std::int64_t last,
                 double* dots) {
    const auto of = [&](auto with_halves, auto without) {
        (x.halves ? with_halves : without)(M, x, first, last, dots);
    };
    if (M.weights) of(product_of<Weights::floats, true>, product_of<Weights::floats, false>);
    else if (M.graph_weights) of(product_of<Weights::doubles, true>, product_of<Weights::doubles, false>);
    else of(product_of<Weights::ones, true>, product_of<Weights::ones, false>);
}
void any_descend(const System& M, const Vectors& x, const float* alpha, std::int64_t first,
                 std::int64_t last, Dots& dots, float* levels, float* largest) {
    ISOTHERM_BY_WIDTH(x.width, (descend<W>(M, x, alpha, first, last, dots, levels, largest)))
}
void any_dot(const System& M, const Vectors& x, const float* from, std::int64_t first,
             std::int64_t last, Dots& dots, float* largest) {
    ISOTHERM_BY_WIDTH(x.width, (dot<W>(M, x, from, first, last, dots, largest)))
}
void any_lift(const System& M, const Vectors& x, const float* rise, std::int64_t first,
              std::int64_t last) {
    ISOTHERM_BY_WIDTH(x.width, (lift<W>(M, x, rise, first, last)))
}
void any_substitute(const System& M, const Vectors& x, const Triangles& C, int lane, int count,
                    int group, float* y) {
    ISOTHERM_BY_WIDTH(group, (substitute<W>(M, x, C, lane, count, y)))
}
template <class T>
void any_advance(const System& M, const Vectors& x, const float* from, const Columns<T>& X,
                 double* h, const double* step, const Turn& turn, std::int64_t first,
                 std::int64_t last, double* dots) {
    if (x.halves) {
        ISOTHERM_BY_WIDTH(
            x.width, (advance<T, W, true>(M, x, from, X, h, step, turn, first, last, dots)))
    } else {
        ISOTHERM_BY_WIDTH(
            x.width, (advance<T, W, false>(M, x, from, X, h, step, turn, first, last, dots)))
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

template <class T>
void any_hang(const Folded& fold, const Columns<T>& X, double* h, const double* low,
              const double* high, const double* heat) {
    with_lane_count(X.count, [&](auto count) { hang<T, count>(fold, X, h, low, high, heat); });
}

#define ISOTHERM_TEXT_OF(x) #x
#define ISOTHERM_TEXT(x) ISOTHERM_TEXT_OF(x)

constexpr Kernels table = {
    ISOTHERM_TEXT(ISOTHERM_KERNELS), never_fall,           are_nodes,
    look,
    any_product,                     any_descend,          any_dot,
    any_lift,                        any_substitute,       any_advance<float>,
    any_advance<double>,             any_residual<float>,  any_residual<double>,
    any_hang<float>,                 any_hang<double>,
    ISOTHERM_NAMED(prover_),
    ISOTHERM_NAMED(leads_),
    ISOTHERM_NAMED(superposer_),
};

}  // namespace

const Kernels& ISOTHERM_NAMED(kernels_)() { return table; }

}  // namespace isotherm
