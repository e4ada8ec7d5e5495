#include "descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "threads.hpp"

namespace isotherm {
namespace {

constexpr double gauge_of_peeled = 0.1;
constexpr double longest_in_float = 1e4;  // h of which float has digits enough

void raise(double& a, double b) {
    if (a == a && !(a > b)) a = b;  // keeps a NaN
}

void merge(Levels& all, const Levels& part) {
    for (int l = 0; l < max_width; ++l) raise(all.columns[l], part.columns[l]);
}

template <class T>
T within(T value, T low, T high) {
    return value < low ? low : value > high ? high : value;
}

// Sums over chunks, added up in the order of the chunks: the same for any number of threads.
class Sums {
public:
    explicit Sums(std::int64_t n_chunks)
        : parts_(static_cast<std::size_t>(n_chunks) * max_width, 0.0) {}
    double* part(std::int64_t chunk) { return parts_.data() + chunk * max_width; }
    void total(double* sums) const {
        std::fill(sums, sums + max_width, 0.0);
        for (std::size_t k = 0; k < parts_.size(); ++k) sums[k % max_width] += parts_[k];
    }

private:
    std::vector<double> parts_;
};

}  // namespace

template <class Body>
void Problem::for_rows(Body body) const {
    for_chunks(threads_, n_chunks(), [&](std::int64_t c) { body(c, cuts_[c], cuts_[c + 1]); });
}

Problem::Problem(const Graph& graph, const std::uint8_t* free, const double* degrees,
                 const double* ties, double leak, bool root, bool peeling, int threads,
                 const Kernels& kernels)
    : kind_(free, free + graph.n_nodes),
      cuts_(cut_rows(graph.n_nodes, graph.start)),
      mass_(static_cast<std::size_t>(graph.n_nodes)),
      M_{graph, kind_.data(), degrees, ties, mass_.data(), 0.0, leak, root, gauge_of_peeled},
      kernels_(kernels),
      threads_(threads) {
    std::vector<double> pivots(degrees, degrees + graph.n_nodes);
    std::mutex mutex;
    bool any_leaves = false;
    for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        bool leaves = false;
        for (std::int64_t i = first; i < last; ++i) {
            pivots[i] *= 1 + leak;
            leaves |= kind_[i] == moving && graph.start[i + 1] - graph.start[i] == 1;
        }
        const std::lock_guard<std::mutex> guard(mutex);
        any_leaves |= leaves;
    });
    if (peeling && any_leaves) peel_ = peel_trees(M_, kind_.data(), pivots.data());
    for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        double most = 0;
        for (std::int64_t i = first; i < last; ++i) {
            if (kind_[i] == moving) most = std::max(most, pivots[i]);
        }
        const std::lock_guard<std::mutex> guard(mutex);
        M_.largest_pivot = std::max(M_.largest_pivot, most);
    });
    for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            mass_[i] = static_cast<float>(pivots[i] / M_.largest_pivot);
        }
    });
}

template <class T>
Levels Problem::residual(const Task<T>& task) const {
    Levels all{};
    std::mutex mutex;
    for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        Levels part{};
        if constexpr (sizeof(T) == 4) {
            kernels_.residual_f(M_, task, first, last, part);
        } else {
            kernels_.residual_d(M_, task, first, last, part);
        }
        const std::lock_guard<std::mutex> guard(mutex);
        merge(all, part);
    });
    return all;
}

double Problem::exit_residual(const double* h, float* Z, int lanes) const {
    constexpr std::int64_t ahead = 32;  // entries, as in the kernels
    const std::int64_t stop = M_.graph.n_entries() - ahead;
    double all = 0;
    std::mutex mutex;
    for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        double most = 0;
        for (std::int64_t i = first; i < last; ++i) {
            if (kind_[i] == held) continue;
            double flow = 0;
            for (std::int64_t e = M_.graph.start[i]; e < M_.graph.start[i + 1]; ++e) {
                if (e < stop) __builtin_prefetch(h + M_.graph.ends[e + ahead]);
                flow += M_.graph.weight(e) * h[M_.graph.ends[e]];
            }
            const double g = gauge(M_, i), r = g + flow - (1 + M_.leak) * M_.degrees[i] * h[i];
            raise(most, std::fabs(r) / g);
            Z[i * lanes] = static_cast<float>(r / pivot(i));
        }
        const std::lock_guard<std::mutex> guard(mutex);
        raise(all, most);
    });
    return all;
}

double Problem::greatest(const double* h) const {
    double all = 0;
    std::mutex mutex;
    for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        double most[4] = {};  // so that maxima need not wait for each other
        std::int64_t i = first;
        for (; i + 4 <= last; i += 4) {
            for (int k = 0; k < 4; ++k) most[k] = std::max(most[k], h[i + k]);
        }
        for (; i < last; ++i) most[0] = std::max(most[0], h[i]);
        const std::lock_guard<std::mutex> guard(mutex);
        all = std::max({all, most[0], most[1], most[2], most[3]});
    });
    return all;
}

template <class T>
void Problem::hang(const Columns<T>& X, double* h, const double* low, const double* high,
                   const Heat& passed) const {
    for (std::size_t k = peel_.child.size(); k-- > 0;) {
        const std::int64_t i = peel_.child[k], p = peel_.parent[k];
        const double* const heat = passed.at(i);
        for (int l = 0; l < X.count; ++l) {
            const double rise = heat ? heat[l] / peel_.pivot[k] : 0.0;
            const T value = static_cast<T>(rise + peel_.ratio[k] * X.first[p * X.stride + l]);
            // A ratio may round up.
            X.first[i * X.stride + l] =
                within(value, static_cast<T>(low[l]), static_cast<T>(high[l]));
        }
        if (h) h[i] = peel_.rise[k] + peel_.ratio[k] * h[p];
    }
}

template <class T>
void Problem::settle(const Columns<T>& X, double* h, const double* low, const double* high,
                     const Heat& passed) const {
    T least[max_width] = {}, most[max_width] = {};
    std::copy(low, low + X.count, least);
    std::copy(high, high + X.count, most);
    for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            if (kind_[i] == held) continue;
            T* row = X.first + i * X.stride;
            for (int l = 0; l < X.count; ++l) row[l] = within(row[l], least[l], most[l]);
        }
    });
    hang(X, h, low, high, passed);
}

Descent::Descent(const Problem& problem, int columns, bool exits, bool hidden,
                 const Sources* sources, int first)
    : problem_(problem) {
    if (sources) {
        given_ = sources->given(first);
        passed_ = sources->passed(first);
    }
    if (hidden && !exits) throw std::invalid_argument("no lane is left for the hidden column");
    const std::int64_t n = problem.M().graph.n_nodes;
    x_.lanes = columns + exits;
    x_.width = width_for(x_.lanes);
    x_.columns = columns;
    x_.hidden = hidden;
    Z_ = Buffer<float>(n * x_.lanes);
    x_.Z = Z_.get();
}

void Descent::make_room() {
    const std::int64_t n = problem_.M().graph.n_nodes;
    const std::int64_t floats = x_.halves ? x_.width / 2 : x_.width;
    if (!P_and_V_.get()) P_and_V_ = Buffer<float>(n * (floats + x_.lanes));
    x_.P = P_and_V_.get();
    x_.V = P_and_V_.get() + n * floats;
}

// Into the room of P and V, which is large enough: there are more lanes than half the width.
template <class T>
void Descent::pack(const Columns<T>& X, int count, double* h) {
    problem_.for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            float* const row = P_and_V_.get() + i * x_.width;
            const T* const from = X.first + i * X.stride;
            for (int l = 0; l < count; ++l) row[l] = static_cast<float>(from[l]);
            if (h) h[i] = row[count] = static_cast<float>(h[i]);
        }
    });
}

void Descent::take_scale(const double* scale) {
    stale_ = true;
    std::copy(scale, scale + x_.columns, scale_);
    scale_[x_.columns] = 1.0;  // of h
}

template <class T>
void Descent::begin(const Columns<T>& X, const double* scale) {
    take_scale(scale);
    P_and_V_ = Buffer<float>();
    const Operator& M = problem_.M();
    const Graph& graph = M.graph;
    const bool exits = x_.lanes > x_.columns;
    float inverse[max_width] = {};
    for (int l = 0; l < x_.columns; ++l) inverse[l] = static_cast<float>(1 / scale_[l]);
    problem_.for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            float* const z = x_.Z + i * x_.lanes;
            std::fill(z, z + x_.lanes, 0.0f);
            if (M.kind[i] != moving) continue;
            const double by_pivot = 1 / problem_.pivot(i);
            if (exits) z[x_.columns] = static_cast<float>(by_pivot * gauge(M, i));
            for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                const std::int64_t j = graph.ends[e];  // only the boundary is warm
                if (M.kind[j] != held) continue;
                const auto share = static_cast<float>(by_pivot * graph.weight(e));
                const T* const y = X.first + j * X.stride;
                for (int l = 0; l < x_.columns; ++l) {
                    z[l] += share * (static_cast<float>(y[l]) * inverse[l]);
                }
            }
            const double* const heat = passed_.at(i);
            for (int l = 0; heat && l < x_.columns; ++l) {
                z[l] += static_cast<float>(by_pivot * heat[l] / scale_[l]);
            }
        }
    });
    const Peel& peel = problem_.peel();
    for (std::size_t k = 0; exits && k < peel.child.size(); ++k) {
        const std::int64_t p = peel.parent[k];
        if (M.kind[p] != moving) continue;
        x_.Z[p * x_.lanes + x_.columns] += static_cast<float>(peel.passed[k] / problem_.pivot(p));
    }
}

template <class T>
Levels Descent::weigh(const Columns<T>& X, double* h, const double* scale) {
    const bool resumes = sizeof(T) == 8 && !stale_ && factor_ && factor_ == next_factor_;
    take_scale(scale);
    double inverse[max_width + 1] = {};
    for (int l = 0; l <= x_.columns; ++l) inverse[l] = 1 / scale_[l];
    const int count = x_.columns + x_.hidden;
    Levels found{};
    bool packed_h = false;
    if constexpr (sizeof(T) == 4) {
        // Is there a lane for h beside those of X, and are its digits not needed?
        packed_h = h && !x_.hidden && problem_.greatest(h) < longest_in_float;
        make_room();
        pack(X, count, packed_h ? h : nullptr);
        found = problem_.residual<float>({P_and_V_.get(), x_.width, count + packed_h, packed_h, inverse,
                                          x_.Z, x_.lanes, x_.columns + packed_h, given_});
    } else {
        found = problem_.residual<double>(
            {X.first, X.stride, count, false, inverse, x_.Z, x_.lanes, x_.columns, given_});
    }
    if (!resumes) P_and_V_ = Buffer<float>();  // others may need the room
    if (h && !packed_h) found.exits = problem_.exit_residual(h, x_.Z + x_.columns, x_.lanes);
    if (packed_h) found.exits = found.columns[count];
    if (!h && x_.lanes > x_.columns) {  // exit times that are good enough: their lane is idle
        problem_.for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) x_.Z[i * x_.lanes + x_.columns] = 0.0f;
        });
    }
    if (resumes) resume();
    return found;
}

// The residual, preconditioned, its size and its product with M P.
const float* Descent::precondition(double* dots, float* largest) {
    const Operator& M = problem_.M();
    float* const from = factor_ ? Y_.get() : x_.Z;
    if (factor_) {
        Vectors y = x_;
        y.V = Y_.get();
        factor_->solve(y, M, problem_.kernels(), problem_.threads(), room_);
    }
    Sums parts(problem_.n_chunks());
    std::mutex mutex;
    std::fill(largest, largest + max_width, 0.0f);
    problem_.for_rows([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
        float most[max_width] = {};
        problem_.kernels().dot(M, x_, from, first, last, parts.part(chunk), most);
        const std::lock_guard<std::mutex> guard(mutex);
        for (int l = 0; l < max_width; ++l) largest[l] = std::max(largest[l], most[l]);
    });
    parts.total(dots);
    return from;
}

// P = from + beta P, after X and h have gone along it.
template <class T>
void Descent::advance(const float* from, const float* largest, const double* beta,
                      const Columns<T>& X, double* h, const double* along) {
    float keep[max_width] = {}, stored[max_width] = {};
    for (int l = 0; l < x_.lanes; ++l) {
        keep[l] = static_cast<float>(beta[l] * unit_[l]);
        size_[l] = largest[l] + std::fabs(beta[l]) * size_[l];
        const bool usual = size_[l] > 0 && std::isfinite(size_[l]);
        unit_[l] = usual ? std::ldexp(1.0, std::clamp(std::ilogb(size_[l]) - 13, -100, 100)) : 1.0;
        stored[l] = static_cast<float>(1 / unit_[l]);
    }
    const Operator& M = problem_.M();
    const Kernels& kernels = problem_.kernels();
    Sums parts(problem_.n_chunks());
    problem_.for_rows([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
        double* const dots = parts.part(chunk);
        if constexpr (sizeof(T) == 4) {
            kernels.advance_f(M, x_, from, X, h, along, keep, stored, first, last, dots);
        } else {
            kernels.advance_d(M, x_, from, X, h, along, keep, stored, first, last, dots);
        }
    });
    parts.total(rp_);
}

// The first direction: the residual, preconditioned.
void Descent::restart() {
    stale_ = false;
    factor_ = next_factor_;
    x_.halves = !factor_;  // where steps are many, directions so rounded would make them more
    make_room();
    if (factor_ && !Y_.get()) Y_ = Buffer<float>(problem_.M().graph.n_nodes * x_.lanes);
    std::fill(size_, size_ + max_width, 0.0);
    const double none[max_width + 1] = {};
    double dots[max_width];
    float largest[max_width];
    const float* const from = precondition(dots, largest);
    advance<float>(from, largest, none, {nullptr, 0, 0}, nullptr, none);
}

// The direction stays, and is measured against the new residual.
void Descent::resume() {
    stale_ = false;
    std::fill(Y_.get(), Y_.get() + problem_.M().graph.n_nodes * x_.lanes, 0.0f);
    const float nothing[max_width] = {};
    const double none[max_width + 1] = {};
    double whole[max_width];
    std::fill(whole, whole + max_width, 1.0);
    advance<float>(Y_.get(), nothing, whole, {nullptr, 0, 0}, nullptr, none);
}

void Descent::multiply() {
    Sums sums(problem_.n_chunks());
    problem_.for_rows([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
        problem_.kernels().product(problem_.M(), x_, first, last, sums.part(chunk));
    });
}

template <class T>
void Descent::step(const Columns<T>& X, double* h, float* levels) {
    if (stale_) restart();
    const Operator& M = problem_.M();
    const Kernels& kernels = problem_.kernels();
    Sums pMp_parts(problem_.n_chunks()), zMp_parts(problem_.n_chunks());
    problem_.for_rows([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
        kernels.product(M, x_, first, last, pMp_parts.part(chunk));
    });
    double pMp[max_width], zMp[max_width], along[max_width + 1] = {}, beta[max_width] = {};
    float alpha[max_width] = {}, largest[max_width] = {};
    pMp_parts.total(pMp);
    // A lane without any heat left has vanishing inner products: it must divide nothing.
    for (int l = 0; l < x_.lanes; ++l) {
        const double a = pMp[l] > 0 ? rp_[l] / pMp[l] : 0.0;
        alpha[l] = static_cast<float>(a);
        along[l] = a * scale_[l];
    }
    std::mutex mutex;
    std::fill(levels, levels + max_width + 1, 0.0f);
    problem_.for_rows([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
        float worst[max_width + 1] = {}, most[max_width] = {};
        kernels.descend(M, x_, alpha, first, last, zMp_parts.part(chunk), worst, most);
        const std::lock_guard<std::mutex> guard(mutex);
        for (int l = 0; l <= max_width; ++l) levels[l] = std::max(levels[l], worst[l]);
        for (int l = 0; l < max_width; ++l) largest[l] = std::max(largest[l], most[l]);
    });
    zMp_parts.total(zMp);
    const float* const from = factor_ ? precondition(zMp, largest) : x_.Z;
    for (int l = 0; l < x_.lanes; ++l) {
        if (!std::isfinite(zMp[l])) {  // a maximum may lose a NaN, a sum does not
            levels[l] = std::numeric_limits<float>::infinity();
        }
        beta[l] = pMp[l] > 0 ? -zMp[l] / (pMp[l] * unit_[l]) : 0.0;
    }
    advance(from, largest, beta, X, h, along);
}

template void Problem::hang<float>(const Columns<float>&, double*, const double*, const double*,
                                   const Heat&) const;
template void Problem::hang<double>(const Columns<double>&, double*, const double*, const double*,
                                    const Heat&) const;
template void Problem::settle<float>(const Columns<float>&, double*, const double*, const double*,
                                     const Heat&) const;
template void Problem::settle<double>(const Columns<double>&, double*, const double*, const double*,
                                      const Heat&) const;
template Levels Descent::weigh<float>(const Columns<float>&, double*, const double*);
template Levels Descent::weigh<double>(const Columns<double>&, double*, const double*);
template void Descent::begin<float>(const Columns<float>&, const double*);
template void Descent::begin<double>(const Columns<double>&, const double*);
template void Descent::step<float>(const Columns<float>&, double*, float*);
template void Descent::step<double>(const Columns<double>&, double*, float*);

}  // namespace isotherm
