// Conjugate gradients for M X = B on a GPU, all columns of a block at once, and what proves X.
//
//     M = (1 + τ) D_F + diag(a) − A_FF       pivots: its diagonal, self loops apart
//
// A row of numbers belongs to a node, W of them side by side (2, 4, 8 or 16 lanes): columns of X and
// perhaps the exit times h of the certificate (M h = gauge). Vectors, in rows of W:
//
//     T  temperatures, and h; float or double          Z  residual / pivot; float
//     P  direction, in units of a power of 2; half      V  M P / pivot; float
//
// One step (`isotherm/engines/cuda/descent.py` launches it):
//
//     product     V = P − A P / pivot,  p·Mp
//     find_step   α = r·p / p·Mp                     with P as it is stored: rounded directions do
//     descend     Z −= α V,  z·Mp, levels            no harm, since α and β are right for them
//     find_turn   β = −z·Mp / p·Mp
//     advance     T += α P,  P = Z + β P,  r·p
//
// Sums have a fixed order, whatever the timing: threads of a group by a butterfly, then groups of a
// block, then blocks one after the other. The same call gives the same bits.
#include <cuda_fp16.h>

typedef long long int64;

#define INFINITE __longlong_as_double(0x7ff0000000000000LL)
#define NO_NUMBER __longlong_as_double(0x7ff8000000000000LL)

template <bool, class A, class B> struct Choose { typedef A type; };
template <class A, class B> struct Choose<false, A, B> { typedef B type; };

enum Kind : unsigned char { moving = 0, held = 1, unreached = 2 };

constexpr int THREADS = 256;  // of a block

// What is known of each column: on the device, so that no step waits for the host.
struct Scalars {
    double scale[16];  // temperatures are iterated in units of it
    double along[16];  // α scale
    double pMp[16];
    double size[16];   // no entry of P is larger
    double unit[16];   // P is stored in units of it
    float alpha[16];
    float beta[16];
    float stored[16];  // 1 / unit
};

// Some rows of the matrix, and who works on them: GROUP threads on each.
struct Rows {
    const int64* start;    // of all rows
    const int* ends;       // entries from `base` on
    const double* weights; // likewise; null: all are 1
    const int* nodes;      // null: count of them from `first` on
    int64 base, first, count;
    double weight_unit;    // weights as floats are in units of it
};

struct Nodes {
    const unsigned char* kind;
    const float* pivots;     // in units of weight_unit
    const float* measures;   // pivot / gauge
    const double* degrees;   // without ties
    const double* ties;      // weights a; null: none
    const int* heat_row;     // null: no heat is put in; −1: none here
    const double* heat;      // rows of `heat_stride`
    int64 n, heat_stride, heat_first;
    double leak;
    int root;                // the gauge is the root of the capacity, not the capacity
};

__device__ double capacity(const Nodes& nodes, int64 i) {
    const double tie = nodes.ties ? nodes.ties[i] : 0.0;
    return nodes.degrees[i] + tie / (1.0 + nodes.leak);
}
__device__ double gauge(const Nodes& nodes, int64 i) {
    const double d = capacity(nodes, i);
    return nodes.root ? sqrt(d) : d;
}
__device__ double pivot(const Nodes& nodes, int64 i) {
    return (1.0 + nodes.leak) * capacity(nodes, i);
}

// --- rows of numbers --------------------------------------------------------------------------

template <class N, int W>
struct Row {
    N at[W];
};

// In as few loads as there can be: 16 bytes each.
template <int W, class N>
__device__ __forceinline__ Row<N, W> load(const N* from) {
    constexpr int bytes = W * sizeof(N);
    Row<N, W> row;
    if constexpr (bytes % 16 == 0) {
        uint4 parts[bytes / 16];
#pragma unroll
        for (int k = 0; k < bytes / 16; ++k) parts[k] = reinterpret_cast<const uint4*>(from)[k];
        memcpy(&row, parts, bytes);
    } else if constexpr (bytes == 8) {
        const uint2 part = *reinterpret_cast<const uint2*>(from);
        memcpy(&row, &part, bytes);
    } else {
        const unsigned part = *reinterpret_cast<const unsigned*>(from);
        memcpy(&row, &part, bytes);
    }
    return row;
}

__device__ __forceinline__ float number(__half x) { return __half2float(x); }
__device__ __forceinline__ float number(float x) { return x; }
__device__ __forceinline__ double number(double x) { return x; }

// --- sums in a fixed order --------------------------------------------------------------------

struct Plus {
    template <class N> __device__ N operator()(N a, N b) const { return a + b; }
};
struct Most {  // a NaN stays
    template <class N> __device__ N operator()(N a, N b) const { return a != a ? a : b != b ? b : a > b ? a : b; }
};

// Over the threads of a group, for each of them; GROUP is a power of 2 up to 32, or THREADS.
template <int GROUP, class N>
__device__ __forceinline__ N group_sum(N x) {
#pragma unroll
    for (int k = 1; k < (GROUP < 32 ? GROUP : 32); k *= 2) x += __shfl_xor_sync(0xffffffffu, x, k);
    if constexpr (GROUP == THREADS) {
        __shared__ N parts[THREADS / 32];
        __syncthreads();
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
        __syncthreads();
        x = parts[0];
        for (int k = 1; k < THREADS / 32; ++k) x += parts[k];
    }
    return x;
}

// Over the threads of a block whose numbers differ by a multiple of `stride`; for the first of them.
template <class Join, class N>
__device__ N block_join(N x, int stride, Join join) {
    __shared__ N parts[THREADS];
    __syncthreads();
    parts[threadIdx.x] = x;
    for (int k = THREADS / 2; k >= stride; k /= 2) {
        __syncthreads();
        if (threadIdx.x < k) parts[threadIdx.x] = join(parts[threadIdx.x], parts[threadIdx.x + k]);
    }
    __syncthreads();
    return parts[threadIdx.x % stride];
}

// A row of the matrix and the thread's place in the group that works on it.
template <int GROUP>
struct Place {
    int64 i = 0, first = 0, last = 0;
    bool works = false;
    int rank = threadIdx.x % GROUP;

    __device__ Place(const Rows& rows, const Nodes& nodes, int64 at) {
        const int64 r = at + threadIdx.x / GROUP;
        if (r >= rows.count) return;
        i = rows.nodes ? rows.nodes[r] : rows.first + r;
        works = nodes.kind[i] == moving;
        if (!works) return;
        first = rows.start[i] - rows.base;
        last = rows.start[i + 1] - rows.base;
    }
};

// All threads of a block go through this loop equally often: they may wait for each other.
#define FOR_ROWS(GROUP, rows, at)                                             \
    for (int64 at = (int64)blockIdx.x * (THREADS / GROUP); at < rows.count;   \
         at += (int64)gridDim.x * (THREADS / GROUP))

// --- one step ---------------------------------------------------------------------------------

// Of a short row, each thread of a group has some of the lanes: nothing is left to add up. A thread of
// other groups has all lanes of some entries.
template <int W, int GROUP, class D, bool WEIGHTED>
__global__ void __launch_bounds__(THREADS)
product(Rows rows, Nodes nodes, const D* __restrict__ P, float* __restrict__ V, double* dots) {
    constexpr bool by_lanes = GROUP == 4 && W >= 8;
    constexpr int L = by_lanes ? W / GROUP : W, STEP = by_lanes ? 1 : GROUP;
    // Floats lose too much in a sum of so many terms.
    typedef typename Choose<(GROUP == THREADS), double, float>::type Sum;
    double own[L] = {};
    FOR_ROWS(GROUP, rows, at) {
        const Place<GROUP> place(rows, nodes, at);
        const int lane = by_lanes ? place.rank * L : 0;
        Sum sums[L] = {};
#pragma unroll 4
        for (int64 e = place.first + (by_lanes ? 0 : place.rank); e < place.last; e += STEP) {
            const Row<D, L> p = load<L>(P + (int64)rows.ends[e] * W + lane);
            const float weight = WEIGHTED ? (float)(rows.weights[e] * rows.weight_unit) : 1.0f;
#pragma unroll
            for (int l = 0; l < L; ++l) sums[l] += WEIGHTED ? weight * number(p.at[l]) : number(p.at[l]);
        }
        if constexpr (!by_lanes) {
#pragma unroll
            for (int l = 0; l < L; ++l) sums[l] = group_sum<GROUP>(sums[l]);
        }
        if (!place.works || (!by_lanes && place.rank)) continue;
        const float pivot = nodes.pivots[place.i];
        const float inverse = (WEIGHTED ? 1.0f : (float)rows.weight_unit) / pivot;
        const Row<D, L> p = load<L>(P + place.i * W + lane);
        float* const v = V + place.i * W + lane;
#pragma unroll
        for (int l = 0; l < L; ++l) {
            const float mp = number(p.at[l]) - (float)sums[l] * inverse;
            v[l] = mp;
            own[l] += (double)pivot * number(p.at[l]) * mp;
        }
    }
    constexpr int threads = by_lanes ? GROUP : 1;  // that have the sums of a block
#pragma unroll
    for (int l = 0; l < L; ++l) {
        const double sum = block_join(own[l], threads, Plus());
        if (threadIdx.x < threads) dots[(int64)blockIdx.x * W + threadIdx.x * L + l] = sum;
    }
}

// Sum over parts of lane l, in order, by a warp for each lane.
template <int W, class N, class Join>
__device__ N join_parts(const N* parts, int count, int stride, int l, Join join) {
    const int rank = threadIdx.x % 32;
    N x = 0;
    for (int k = rank; k < count; k += 32) x = join(x, parts[(int64)k * stride + l]);
    for (int k = 1; k < 32; k *= 2) x = join(x, __shfl_xor_sync(0xffffffffu, x, k));
    return x;
}

// α of each lane, by 32 W threads. A lane without any heat left has vanishing products: it must
// divide nothing.
template <int W>
__global__ void find_step(Scalars* all, const double* pMp_parts, int n_pMp, const double* rp_parts,
                          int n_rp) {
    const int l = threadIdx.x / 32;
    const double pMp = join_parts<W>(pMp_parts, n_pMp, W, l, Plus());
    const double rp = join_parts<W>(rp_parts, n_rp, W, l, Plus());
    if (threadIdx.x % 32) return;
    const double alpha = pMp > 0 ? rp / pMp : 0.0;
    all->pMp[l] = pMp;
    all->alpha[l] = (float)alpha;
    all->along[l] = alpha * all->scale[l];
}

// A thread to a number; `hidden`: of one more column, which is 1 − Σ of the others.
template <int W>
__global__ void __launch_bounds__(THREADS)
descend(Nodes nodes, const Scalars* all, float* __restrict__ Z, const float* __restrict__ V,
        int columns, int hidden, double* dots, float* levels, float* largest) {
    const int l = threadIdx.x % W;
    const float alpha = all->alpha[l];
    double zMp = 0;
    float level = 0, most = 0, level_hidden = 0;
    const int64 n = nodes.n * W, stride = (int64)gridDim.x * THREADS;
    for (int64 first = (int64)blockIdx.x * THREADS; first < n; first += stride) {
        const int64 k = first + threadIdx.x, i = k / W;
        float z = 0, measure = 0;
        if (k < n && nodes.kind[i] == moving) {
            const float v = V[k];
            z = Z[k] - alpha * v;
            Z[k] = z;
            measure = nodes.measures[i];
            zMp += (double)nodes.pivots[i] * z * v;
            level = Most()(level, fabsf(z) * measure);
            most = Most()(most, fabsf(z));
        }
        if (hidden) {
            float sum = l < columns ? z : 0.0f;
            for (int m = 1; m < W; m *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, m);
            level_hidden = Most()(level_hidden, fabsf(sum) * measure);
        }
    }
    const double dot = block_join(zMp, W, Plus());
    level = block_join(level, W, Most());
    most = block_join(most, W, Most());
    level_hidden = block_join(level_hidden, 1, Most());
    if (threadIdx.x >= W) return;
    dots[(int64)blockIdx.x * W + l] = dot;
    levels[(int64)blockIdx.x * (W + 1) + l] = level;
    largest[(int64)blockIdx.x * W + l] = most;
    if (l == 0) levels[(int64)blockIdx.x * (W + 1) + W] = level_hidden;
}

// β of each lane and the unit of the next direction; and what is seen from outside: the levels.
// `first`: there is no direction yet.
template <int W>
__global__ void find_turn(Scalars* all, const double* zMp_parts, const float* level_parts,
                          const float* largest_parts, int count, int first, float* seen) {
    const int l = threadIdx.x / 32;
    const double zMp = first ? 0.0 : join_parts<W>(zMp_parts, count, W, l, Plus());
    const float largest = join_parts<W>(largest_parts, count, W, l, Most());
    float level = join_parts<W>(level_parts, count, W + 1, l, Most());
    const float hidden = join_parts<W>(level_parts, count, W + 1, W, Most());
    if (threadIdx.x % 32) return;
    if (zMp != zMp || isinf(zMp)) level = (float)INFINITE;
    seen[l] = level;
    if (l == 0) seen[W] = hidden;
    const double beta = !first && all->pMp[l] > 0 ? -zMp / all->pMp[l] : 0.0;
    const double kept = first ? 0.0 : fabs(beta) / all->unit[l] * all->size[l];
    const double size = largest + kept;
    int e = -100;
    if (size > 0 && !isinf(size)) e = ilogb(size) - 13;
    const double unit = size > 0 && !isinf(size) ? ldexp(1.0, e < -100 ? -100 : e > 100 ? 100 : e) : 1.0;
    all->size[l] = size;
    all->unit[l] = unit;
    all->beta[l] = (float)beta;
    all->stored[l] = (float)(1 / unit);
    if (first) all->along[l] = 0.0;
}

template <int W, class D, class N>
__global__ void __launch_bounds__(THREADS)
advance(Nodes nodes, const Scalars* all, N* __restrict__ T, const float* __restrict__ Z,
        D* __restrict__ P, double* dots) {
    const int l = threadIdx.x % W;
    const float beta = all->beta[l], stored = all->stored[l];
    const double along = all->along[l];
    double rp = 0;
    const int64 n = nodes.n * W;
    for (int64 k = (int64)blockIdx.x * THREADS + threadIdx.x; k < n; k += (int64)gridDim.x * THREADS) {
        const int64 i = k / W;
        if (nodes.kind[i] != moving) continue;
        const float p = number(P[k]), z = Z[k];
        if (along != 0) T[k] = (N)(T[k] + (N)along * (N)p);
        const D next = (D)((z + beta * p) * stored);
        P[k] = next;
        rp += (double)nodes.pivots[i] * z * number(next);
    }
    const double dot = block_join(rp, W, Plus());
    if (threadIdx.x < W) dots[(int64)blockIdx.x * W + l] = dot;
}

// --- residuals of T as it is, in double -------------------------------------------------------

// Z = r / (pivot scale), levels |r| / gauge. `COLD`: T is 0 at moving nodes, and only the boundary
// is looked at. Lane `columns` is that of h, if there are more lanes than columns.
template <int W, int GROUP, class N, bool WEIGHTED, bool COLD>
__global__ void __launch_bounds__(THREADS)
weigh(Rows rows, Nodes nodes, const Scalars* all, const N* __restrict__ T, float* __restrict__ Z,
      int columns, int lanes, int hidden, float* levels, float* largest) {
    float level[W] = {}, most[W] = {}, level_hidden = 0;
    FOR_ROWS(GROUP, rows, at) {
        const Place<GROUP> place(rows, nodes, at);
        Row<N, W> own = {};
        if (!COLD && place.works) own = load<W>(T + place.i * W);
        double sums[W] = {};
#pragma unroll 2
        for (int64 e = place.first + place.rank; e < place.last; e += GROUP) {
            const int64 j = rows.ends[e];
            if (COLD && nodes.kind[j] != held) continue;
            const Row<N, W> other = load<W>(T + j * W);
            const double weight = WEIGHTED ? rows.weights[e] : 1.0;
#pragma unroll
            for (int l = 0; l < W; ++l) sums[l] += weight * ((double)other.at[l] - (double)own.at[l]);
        }
#pragma unroll
        for (int l = 0; l < W; ++l) sums[l] = group_sum<GROUP>(sums[l]);
        if (!place.works || place.rank) continue;
        const int64 i = place.i;
        const double loss = nodes.leak * nodes.degrees[i] + (nodes.ties ? nodes.ties[i] : 0.0);
        const double unit = gauge(nodes, i), diagonal = pivot(nodes, i);
        const int heat = nodes.heat_row ? nodes.heat_row[i] : -1;
        double total = 0;
#pragma unroll
        for (int l = 0; l < W; ++l) {
            double r = sums[l] - loss * (double)own.at[l];
            if (l < columns) {
                if (heat >= 0) r += nodes.heat[heat * nodes.heat_stride + nodes.heat_first + l];
                total += r;
            } else {
                r = l < lanes ? r + unit : 0.0;
            }
            const float z = (float)(r / (diagonal * all->scale[l]));
            Z[i * W + l] = z;
            level[l] = Most()(level[l], (float)(fabs(r) / (unit * all->scale[l])));
            most[l] = Most()(most[l], fabsf(z));
        }
        if (hidden) level_hidden = Most()(level_hidden, (float)(fabs(total) / unit));
    }
#pragma unroll
    for (int l = 0; l < W; ++l) {
        const float a = block_join(level[l], 1, Most()), b = block_join(most[l], 1, Most());
        if (threadIdx.x) continue;
        levels[(int64)blockIdx.x * (W + 1) + l] = a;
        largest[(int64)blockIdx.x * W + l] = b;
    }
    const float a = block_join(level_hidden, 1, Most());
    if (threadIdx.x == 0) levels[(int64)blockIdx.x * (W + 1) + W] = a;
}

// --- in and out -------------------------------------------------------------------------------

struct Bounds {
    double low[17], high[17];
};

__device__ __forceinline__ double within(double x, double low, double high) {
    if (x != x || isinf(x)) return low + (high - low) / 2;
    return x < low ? low : x > high ? high : x;
}

// Moves T within its bounds, which brings it only closer.
template <int W, class N>
__global__ void clip(Nodes nodes, Bounds bounds, N* T, int columns) {
    const int64 n = nodes.n * columns;
    for (int64 k = (int64)blockIdx.x * THREADS + threadIdx.x; k < n; k += (int64)gridDim.x * THREADS) {
        const int64 i = k / columns;
        const int l = (int)(k % columns);
        if (nodes.kind[i] == moving) T[i * W + l] = (N)within(T[i * W + l], bounds.low[l], bounds.high[l]);
    }
}

// Temperatures as they are given back, `width` a node in rows of `stride`: within their bounds, NaN at
// unreached nodes, the hidden column 1 − Σ of the others. And the exit times, as doubles.
template <int W, class N>
__global__ void put_out(Nodes nodes, Bounds bounds, const N* T, int columns, int hidden, N* X,
                        int stride, double* h) {
    for (int64 i = (int64)blockIdx.x * THREADS + threadIdx.x; i < nodes.n; i += (int64)gridDim.x * THREADS) {
        const Row<N, W> own = load<W>(T + i * W);
        const int kind = nodes.kind[i];
        N sum = 0;
        for (int l = 0; l < columns; ++l) {
            N x = own.at[l];
            if (kind == moving) x = (N)within(x, bounds.low[l], bounds.high[l]);
            sum += x;
            X[i * stride + l] = kind == unreached ? (N)NO_NUMBER : x;
        }
        if (hidden) {
            N x = 1 - sum;
            if (kind == moving) x = (N)within(x, bounds.low[columns], bounds.high[columns]);
            X[i * stride + columns] = kind == unreached ? (N)NO_NUMBER : x;
        }
        if (h) h[i] = kind == moving ? (double)own.at[columns] : 0.0;
    }
}

// --- the proof --------------------------------------------------------------------------------

// What a certificate needs to know, for each block of threads: see isotherm/solvers/imbalance.py, and
// native/prover.cpp, which does the same. A sum of N terms, in whatever order, is off by at most N u
// times the sum of their sizes; 8 more cover the difference and the products that make a term, the
// degree, and the last operations; 1 % covers the rounding of the bound itself.
struct Ties {
    const int* row_of;      // null: none
    const double* weights;
    const double* values;   // rows of `stride`
    int64 stride, first;
    double roundings;
};

template <int C>
struct Evidence {
    double level[C], rounding[C], relative[C], high[C], minus_low[C];
    double minus_least_degree, greatest_degree, minus_least_exit, greatest_exit, n_nodes, stray;
};

template <int C, int GROUP, class N, bool WEIGHTED>
__global__ void __launch_bounds__(THREADS)
prove(Rows rows, Nodes nodes, Ties ties, const N* __restrict__ X, int64 stride, int count,
      const double* __restrict__ h, double* found) {
    const double roundoff = ldexp(1.0, -53), underflow = ldexp(1.0, -1074);
    Evidence<C> own;
    double* const numbers = reinterpret_cast<double*>(&own);
#pragma unroll
    for (int k = 0; k < 5 * C + 4; ++k) numbers[k] = -INFINITE;
#pragma unroll
    for (int l = 0; l < C; ++l) own.level[l] = own.rounding[l] = own.relative[l] = 0.0;
    own.n_nodes = own.stray = 0.0;
    FOR_ROWS(GROUP, rows, at) {
        const Place<GROUP> place(rows, nodes, at);
        const int64 i = place.i;
        double x[C] = {}, sums[C] = {}, sizes[C] = {};
        double degree = 0, of_h = 0, sizes_of_h = 0, own_h = 0;
        if (place.works) {
            own_h = h[i];
            for (int l = 0; l < C; ++l) x[l] = l < count ? (double)X[i * stride + l] : 0.0;
        }
#pragma unroll 2
        for (int64 e = place.first + place.rank; e < place.last; e += GROUP) {
            const int64 j = rows.ends[e];
            const double weight = WEIGHTED ? rows.weights[e] : 1.0;
            const double term = weight * (h[j] - own_h);
            degree += weight;
            of_h += term;
            sizes_of_h += fabs(term);
            const N* const other = X + j * stride;
#pragma unroll
            for (int l = 0; l < C; ++l) {
                if (l >= count) break;
                const double flow = weight * ((double)other[l] - x[l]);
                sums[l] += flow;
                sizes[l] += fabs(flow);
            }
        }
        degree = group_sum<GROUP>(degree);
        of_h = group_sum<GROUP>(of_h);
        sizes_of_h = group_sum<GROUP>(sizes_of_h);
#pragma unroll
        for (int l = 0; l < C; ++l) {
            sums[l] = group_sum<GROUP>(sums[l]);
            sizes[l] = group_sum<GROUP>(sizes[l]);
        }
        if (place.rank) continue;
        if (!place.works) {
            const int64 r = at + threadIdx.x / GROUP;
            if (r < rows.count && h[i] != 0) own.stray = 1.0;
            continue;
        }
        const int tie = ties.row_of ? ties.row_of[i] : -1;
        const double terms = (double)(place.last - place.first + (tie >= 0) + 8);
        const double unit = 1.01 * terms * roundoff, tiny = terms * underflow;
        double tied = 0, size = 0;
        if (tie >= 0) {
            // A weight that was rounded changes its term by so much more.
            tied = ties.weights[tie];
            size = 1 + ties.roundings / terms;
            of_h -= tied * own_h;
            sizes_of_h += size * fabs(tied * own_h);
        }
        const double loss = nodes.leak * degree, whole = degree + tied, lost_h = loss * own_h;
        const double rounding_h = unit * (sizes_of_h + fabs(lost_h)) + tiny * (1 + fabs(own_h));
        const double drain = lost_h - of_h - rounding_h;
        const double inverse = drain > 0 ? 1 / drain : NO_NUMBER;  // else h proves nothing
#pragma unroll
        for (int l = 0; l < C; ++l) {
            if (l >= count) break;
            if (tie >= 0) {
                const double term = tied * (ties.values[tie * ties.stride + ties.first + l] - x[l]);
                sums[l] += term;
                sizes[l] += size * fabs(term);
            }
            const double lost = loss * x[l], r = fabs(sums[l] - lost);
            const double rounding = unit * (sizes[l] + fabs(lost)) + tiny * (1 + fabs(x[l]));
            own.level[l] = Most()(own.level[l], inverse * (r + rounding));
            own.rounding[l] = Most()(own.rounding[l], inverse * rounding);
            own.relative[l] = Most()(own.relative[l], r / whole);
            own.high[l] = Most()(own.high[l], x[l]);
            own.minus_low[l] = Most()(own.minus_low[l], -x[l]);
        }
        own.minus_least_degree = Most()(own.minus_least_degree, -whole);
        own.greatest_degree = Most()(own.greatest_degree, whole);
        own.minus_least_exit = Most()(own.minus_least_exit, -own_h);
        own.greatest_exit = Most()(own.greatest_exit, own_h);
        own.n_nodes += 1;
    }
    double* const out = found + (int64)blockIdx.x * (5 * C + 6);
#pragma unroll
    for (int k = 0; k < 5 * C + 6; ++k) {
        const bool is_count = k == 5 * C + 4;
        const double x = is_count ? block_join(numbers[k], 1, Plus()) : block_join(numbers[k], 1, Most());
        if (threadIdx.x == 0) out[k] = x;
    }
}
