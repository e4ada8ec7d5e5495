#include "descent.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <type_traits>

#include "lane_count.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

constexpr std::int64_t rows_per_piece = 1 << 14;
constexpr double longest_in_float = 1e4;  // h of which float has digits enough

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

Dots total(const std::vector<Dots>& parts) {
    Dots all{};
    for (const Dots& part : parts) {
        for (int l = 0; l < max_width; ++l) {
            all.flow[l] += part.flow[l];
            all.heat[l] += part.heat[l];
            all.leaving[l] += part.leaving[l];
        }
    }
    return all;
}

void raise(float* most, const float* found, int count) {
    for (int l = 0; l < count; ++l) most[l] = std::max(most[l], found[l]);
}

// Whether any node is held at another temperature than 0. Where no heat gets there is no number.
template <class T>
bool is_any_warm(const Problem& problem, const Columns<T>& X, int count) {
    std::atomic<bool> found{false};
    problem.for_nodes([&](std::int64_t, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last && !found; ++i) {
            if (problem.M().kind[i] != held) continue;
            const T* const row = X.first + i * X.stride;
            if (std::any_of(row, row + count, [](T t) { return t < 0 || t > 0; })) found = true;
        }
    });
    return found;
}

}  // namespace

Descent::Descent(const Problem& problem, int columns, bool exits, bool hidden,
                 const Sources* sources, int first)
    : problem_(problem) {
    if (sources) {
        given_ = sources->given(first);
        passed_ = sources->passed(first);
    }
    if (hidden && !exits) throw std::invalid_argument("no lane is left for the hidden column");
    x_.lanes = columns + exits;
    x_.width = width_for(x_.lanes);
    x_.columns = columns;
    x_.hidden = hidden;
}

void Descent::make_room() {
    const std::int64_t rows = padded(system_->n_rows);
    const std::int64_t numbers = rows * x_.width, floats = x_.halves ? numbers / 2 : numbers;
    if (!P_and_V_.get()) P_and_V_ = Buffer<float>(floats + rows * x_.stride);
    x_.P = P_and_V_.get();
    x_.V = P_and_V_.get() + floats;
}

// Turns to the system as it is now.
void Descent::enter(const double* scale) {
    stale_ = true;
    std::copy(scale, scale + x_.columns, scale_);
    scale_[x_.columns] = 1.0;  // of h
    if (is_up_to_date()) return;
    system_ = &problem_.system();
    version_ = problem_.version();
    // Where there is much of them, rows are no wider than they must be: it is memory that counts.
    x_.stride = x_.width == max_width && !problem_.is_reduced() ? x_.lanes : x_.width;
    P_and_V_ = Buffer<float>();
    Z_ = Buffer<float>();  // before there are others
    Y_ = Buffer<float>();
    room_ = Buffer<float>();
    Z_ = Buffer<float>(padded(system_->n_rows) * x_.stride);
    x_.Z = Z_.get();
}

void Descent::follow(const std::vector<std::int32_t>& before) {
    const auto n_rows = static_cast<std::int64_t>(before.size());
    const auto for_rows = [&](auto body) {
        for_pieces(problem_.threads(), n_rows, rows_per_piece, body);
    };
    const int most = std::max(doubles_.get() ? x_.width : x_.width / 2, 1);  // doubles in a row
    const Buffer<double> room(n_rows * most, Contents::any);
    const auto move = [&](auto* rows, std::int64_t width) {
        using Number = std::remove_pointer_t<decltype(rows)>;
        if (!rows) return;
        Number* const old = reinterpret_cast<Number*>(room.get());
        for_rows([&](std::int64_t first, std::int64_t last) {
            std::copy(rows + first * width, rows + last * width, old + first * width);
        });
        for_rows([&](std::int64_t first, std::int64_t last) {
            for (std::int64_t row = first; row < last; ++row) {
                const Number* const from = old + before[row] * width;
                std::copy(from, from + width, rows + row * width);
            }
        });
    };
    front_.end();
    move(x_.Z, x_.stride);
    if (x_.halves) move(static_cast<std::uint16_t*>(x_.P), x_.width);
    else move(static_cast<float*>(x_.P), x_.width);
    move(floats_.get(), x_.width);
    move(doubles_.get(), x_.width);
    move(exits_.get(), 1);
    version_ = problem_.version();
}

// Rows of x_.width floats.
template <class T>
Buffer<float> Descent::packed(const Columns<T>& X, int count, double* h) const {
    const std::int64_t n = problem_.M().graph.n_nodes;
    Buffer<float> rows(n * x_.width);
    for_pieces(problem_.threads(), n, rows_per_piece, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            float* const row = rows.get() + i * x_.width;
            const T* const from = X.first + i * X.stride;
            for (int l = 0; l < count; ++l) row[l] = static_cast<float>(from[l]);
            if (h) h[i] = row[count] = static_cast<float>(h[i]);
        }
    });
    return rows;
}

template <class T>
Columns<T> Descent::own_or(const Columns<T>& X) const {
    if (!problem_.nodes() || X.count == 0) return X;
    if constexpr (std::is_same_v<T, float>) return {floats_.get(), x_.width, X.count, true};
    else return {doubles_.get(), x_.width, X.count, true};
}

// Room for X and h of a reduced system, at 0.
template <class T>
void Descent::clear_own(bool exits) {
    const std::int64_t rows = padded(system_->n_rows);
    floats_ = Buffer<float>();
    doubles_ = Buffer<double>();
    exits_ = Buffer<double>();
    if constexpr (std::is_same_v<T, float>) floats_ = Buffer<float>(rows * x_.width);
    else doubles_ = Buffer<double>(rows * x_.width);
    if (exits) exits_ = Buffer<double>(rows);
}

template <class T>
void Descent::take(const Columns<T>& X, const double* h) {
    const std::int32_t* const nodes = problem_.nodes();
    if (!nodes) return;
    clear_own<T>(h != nullptr);
    const Columns<T> own = own_or(X);
    problem_.for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        for (std::int64_t row = first; row < last; ++row) {
            const T* const from = X.first + nodes[row] * X.stride;
            std::copy(from, from + X.count, own.first + row * own.stride);
            if (h) exits_[row] = h[nodes[row]];
        }
    });
}

template <class T>
void Descent::put_back(const Columns<T>& X, double* h) const {
    const std::int32_t* const nodes = problem_.nodes();
    const Columns<T> own = own_or(X);
    if (!nodes || !is_up_to_date() || (X.count > 0 && !own.first)) return;
    problem_.for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        for (std::int64_t row = first; row < last; ++row) {
            const T* const from = own.first + row * own.stride;
            T* const to = X.first + nodes[row] * X.stride;
            std::copy(from, from + X.count, to);
            if (h && exits_.get()) h[nodes[row]] = exits_[row];
        }
    });
}

template <class T>
double Descent::warmest(const Columns<T>& X) const {
    const Columns<T> own = own_or(X);
    std::mutex mutex;
    double most = 0;
    problem_.for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        double here = 0;
        for (std::int64_t row = first; row < last; ++row) {
            if (!(system_->mass[row] > 0)) continue;
            const T* const x = own.first + row * own.stride;
            for (int l = 0; l < own.count; ++l) here = std::max<double>(here, std::fabs(x[l]));
        }
        const std::lock_guard<std::mutex> guard(mutex);
        most = std::max(most, here);
    });
    return most;
}

double Descent::longest(const double* h) const {
    if (!problem_.nodes()) return problem_.greatest(h);
    double most = 0;
    for (std::int64_t row = 0; exits_.get() && row < system_->n_rows; ++row) {
        most = std::max(most, exits_[row]);
    }
    return most;
}

double Descent::complete_exits(double* h) const {
    const Columns<float> none{nullptr, 0, 0};
    put_back(none, h);
    problem_.hang(none, h, nullptr, nullptr, {}, nullptr);
    return problem_.greatest(h);
}

template <class T>
void Descent::pass_heat_on(const Columns<T>& X) {
    const Fold& fold = problem_.fold();
    if (fold.empty() || !heat_.empty()) return;
    const Operator& M = problem_.M();
    const int count = x_.columns;
    heat_.assign(static_cast<std::size_t>(M.graph.n_nodes) * count, 0.0);
    const auto heat_of = [&](std::int64_t i) { return heat_.data() + i * count; };
    if (is_any_warm(problem_, X, count)) {
        problem_.for_boundary([&](std::int64_t i, std::int64_t j, double weight) {
            const T* const y = X.first + j * X.stride;
            for (int l = 0; l < count; ++l) heat_of(i)[l] += weight * y[l];
        });
    }
    for (std::int64_t i = 0; given_.row_of && i < M.graph.n_nodes; ++i) {
        const double* const given = given_.at(i);
        for (int l = 0; given && l < count; ++l) heat_of(i)[l] += given[l];
    }
    with_lane_count(count, [&](auto constant) {
        constexpr int N = constant;
        for (std::int64_t k = 0; k < fold.size(); ++k) {
            double own[N + 1];
            std::copy_n(heat_of(fold.nodes[k]), N, own);
            for (std::int64_t e = fold.start[k]; e < fold.start[k + 1]; ++e) {
                double* const other = heat_of(fold.ends[e]);
                for (int l = 0; l < N; ++l) other[l] += fold.ratios[e] * own[l];
            }
        }
    });
}

template <class T>
void Descent::settle(const Columns<T>& X, double* h, const double* low, const double* high,
                     bool clip) {
    pass_heat_on(X);
    put_back(X, h);
    if (clip) problem_.settle(X, h, low, high, passed_, heat_.data());
    else problem_.hang(X, h, low, high, passed_, heat_.data());
}

template <class T>
void Descent::begin(const Columns<T>& X, const double* scale) {
    enter(scale);
    P_and_V_ = Buffer<float>();
    const Operator& M = problem_.M();
    const Graph& graph = M.graph;
    const std::int32_t* const nodes = problem_.nodes();
    pass_heat_on(X);
    const std::vector<double>& received = problem_.fold().received;
    const bool exits = x_.lanes > x_.columns;
    float inverse[max_width] = {};
    for (int l = 0; l < x_.columns; ++l) inverse[l] = static_cast<float>(1 / scale_[l]);
    const auto warm = [&](std::int64_t row, std::int64_t i, std::int64_t j, double weight) {
        const auto share = static_cast<float>(weight / problem_.pivot(i));
        const T* const y = X.first + j * X.stride;
        float* const z = x_.Z + row * x_.stride;
        for (int l = 0; l < x_.columns; ++l) z[l] += share * (static_cast<float>(y[l]) * inverse[l]);
    };
    const bool is_cold = !is_any_warm(problem_, X, x_.columns);  // then all heat is put in
    const auto begin_at = [&](std::int64_t row, std::int64_t i) {
        if (M.kind[i] != moving) return;
        float* const z = x_.Z + row * x_.stride;
        const double by_pivot = 1 / problem_.pivot(i);
        if (exits) {
            const double passed_on = received.empty() ? 0.0 : received[i];
            z[x_.columns] = static_cast<float>(by_pivot * (gauge(M, i) + passed_on));
        }
        const double* const heat = heat_.empty() ? passed_.at(i) : heat_.data() + i * x_.columns;
        for (int l = 0; heat && l < x_.columns; ++l) {
            z[l] += static_cast<float>(by_pivot * heat[l] / scale_[l]);
        }
        if (nodes || is_cold) return;
        for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
            const std::int64_t j = graph.ends[e];  // only the boundary is warm
            if (M.kind[j] == held) warm(row, i, j, graph.weight(e));
        }
    };
    const bool at_sources_alone = is_cold && !exits && heat_.empty();
    problem_.for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        std::fill(x_.Z + first * x_.stride, x_.Z + last * x_.stride, 0.0f);
        if (at_sources_alone) return;
        for (std::int64_t row = first; row < last; ++row) begin_at(row, problem_.node_of(row));
    });
    for (std::int64_t i = 0; at_sources_alone && passed_.row_of && i < graph.n_nodes; ++i) {
        if (passed_.row_of[i] >= 0) begin_at(problem_.row_of(i), i);
    }
    const Peel& peel = problem_.peel();
    for (std::size_t k = 0; exits && k < peel.child.size(); ++k) {
        const std::int64_t p = peel.parent[k], row = problem_.row_of(p);
        if (M.kind[p] != moving) continue;
        x_.Z[row * x_.stride + x_.columns] += static_cast<float>(peel.passed(k) / problem_.pivot(p));
    }
    if (nodes) {
        if (heat_.empty() && !is_cold) {
            problem_.for_boundary([&](std::int64_t i, std::int64_t j, double weight) {
                if (M.kind[i] == moving) warm(problem_.row_of(i), i, j, weight);
            });
        }
        clear_own<T>(exits);
    }
    if (!exits) front_.begin(*system_, x_);
}

template <class T>
Levels Descent::weigh(const Columns<T>& X, double* h, const double* scale) {
    const bool resumes = sizeof(T) == 8 && !stale_ && factor_ && factor_ == next_factor_ &&
                         is_up_to_date();
    enter(scale);
    front_.end();
    if (!resumes) P_and_V_ = Buffer<float>();  // others may need the room
    double inverse[max_width + 1] = {};
    for (int l = 0; l <= x_.columns; ++l) inverse[l] = 1 / scale_[l];
    Task<T> task{};
    task.row_of = problem_.row_of();
    task.X = X.first;
    task.stride = X.stride;
    task.count = task.lanes = x_.columns;
    task.hidden = x_.hidden;
    task.inverse_scale = inverse;
    task.Z = x_.Z;
    task.stride_of_Z = x_.stride;
    task.heat = given_;
    Buffer<float> rows;
    if constexpr (sizeof(T) == 4) {
        // Are the digits of h not needed?
        task.packed_h = h && problem_.greatest(h) < longest_in_float;
        rows = packed(X, x_.columns, task.packed_h ? h : nullptr);
        task.X = rows.get();
        task.stride = x_.width;
        task.count = task.lanes += task.packed_h;
    }
    Levels found = problem_.residual<T>(task);
    if (task.packed_h) found.exits = found.columns[x_.columns];
    else if (h) found.exits = problem_.exit_residual(h, x_.Z + x_.columns, x_.stride);
    if (x_.hidden) found.columns[x_.columns] = found.hidden;
    if (!h && x_.lanes > x_.columns) {  // exit times that are good enough: their lane is idle
        problem_.for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
            for (std::int64_t row = first; row < last; ++row) {
                x_.Z[row * x_.stride + x_.columns] = 0.0f;
            }
        });
    }
    take(Columns<T>{X.first, X.stride, x_.columns}, h);
    if (resumes) resume();
    return found;
}

// The residual, preconditioned, its size and its sums; those with V, if there is one yet.
const float* Descent::precondition(Dots& dots, float* largest, bool has_V) {
    float* const from = factor_ ? Y_.get() : x_.Z;
    if (factor_) {
        Vectors y = x_;
        y.V = Y_.get();
        factor_->solve(y, *system_, problem_.kernels(), problem_.threads(), room_);
    }
    Vectors x = x_;
    if (!has_V) x.V = x.Z;
    std::vector<Dots> parts(problem_.n_chunks());
    std::mutex mutex;
    std::fill(largest, largest + max_width, 0.0f);
    problem_.for_rows([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
        float most[max_width] = {};
        problem_.kernels().dot(*system_, x, from, first, last, parts[chunk], most);
        const std::lock_guard<std::mutex> guard(mutex);
        raise(largest, most, max_width);
    });
    dots = total(parts);
    return from;
}

// Says by how much X and h are to rise, the same everywhere, for the residual to have a sum of 0, and
// takes that off the residual. Directions are kept conjugate to it from now on.
void Descent::lift(const Dots& dots, double* rise) {
    is_lifted_ = true;
    float by[max_width] = {};
    for (int l = 0; l < x_.lanes; ++l) {
        by[l] = static_cast<float>(dots.heat[l] / system_->all_exits);
        if (!std::isfinite(by[l])) by[l] = 0;
        rise[l] = by[l] * scale_[l];
    }
    problem_.for_rows([&](std::int64_t, std::int64_t first, std::int64_t last) {
        problem_.kernels().lift(*system_, x_, by, first, last);
    });
}

// X and h rise, and go along P;  P = from + shift + beta P, with a shift by which as much comes back
// as would leave by the rest.
template <class T>
void Descent::advance(const float* from, const float* largest, const Dots& dots,
                      const double* beta, const Columns<T>& X, double* h, const double* along,
                      const double* rise) {
    Turn turn{};
    for (int l = 0; l < x_.lanes; ++l) {
        const double shift =
            is_lifted_ ? (dots.heat[l] - dots.leaving[l]) / system_->all_exits : 0.0;
        turn.shift[l] = static_cast<float>(shift);
        turn.beta[l] = static_cast<float>(beta[l] * unit_[l]);
        size_[l] = largest[l] + std::fabs(shift) + std::fabs(beta[l]) * size_[l];
        const bool usual = size_[l] > 0 && std::isfinite(size_[l]);
        unit_[l] = usual ? std::ldexp(1.0, std::clamp(std::ilogb(size_[l]) - 13, -100, 100)) : 1.0;
        turn.inverse_units[l] = static_cast<float>(1 / unit_[l]);
    }
    const bool rises = std::any_of(rise, rise + x_.lanes, [](double by) { return by != 0; });
    const auto lift_rows = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t row = first; row < last; ++row) {
            if (!(system_->mass[row] > 0)) continue;
            for (int l = 0; l < X.count; ++l) {
                X.first[row * X.stride + l] += static_cast<T>(rise[l]);
            }
            if (h) h[row] += rise[x_.columns];
        }
    };
    const Kernels& kernels = problem_.kernels();
    Sums parts(problem_.n_chunks());
    problem_.for_rows([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
        double* const rp = parts.part(chunk);
        if (rises) lift_rows(first, last);
        if constexpr (sizeof(T) == 4) {
            kernels.advance_f(*system_, x_, from, X, h, along, turn, first, last, rp);
        } else {
            kernels.advance_d(*system_, x_, from, X, h, along, turn, first, last, rp);
        }
    });
    parts.total(rp_);
}

// The first direction: the residual, preconditioned.
void Descent::restart(double* rise) {
    stale_ = false;
    is_lifted_ = false;
    factor_ = next_factor_;
    // Where steps are many, directions so rounded would make them more.
    x_.halves = !factor_ && are_better_halves(x_.width, system_->n_rows);
    // Directions that are few are in the caches of all threads that read them. More of them would
    // have to come from memory each time.
    x_.shared = problem_.threads() > 1 && problem_.n_chunks() > 1 &&
                system_->n_rows * bytes_per_row(x_.width, x_.halves) <= near_bytes;
    if (factor_) front_.end();
    front_.advance(*system_);
    make_room();
    if (factor_ && !Y_.get()) Y_ = Buffer<float>(padded(system_->n_rows) * x_.stride);
    std::fill(size_, size_ + max_width, 0.0);
    const double none[max_width + 1] = {};
    Dots dots;
    float largest[max_width];
    const float* from = precondition(dots, largest, false);
    if (is_to_be_lifted()) {
        lift(dots, rise);
        from = precondition(dots, largest, false);
    }
    advance<float>(from, largest, dots, none, {nullptr, 0, 0}, nullptr, none, none);
}

// The direction stays, and is measured against the new residual.
void Descent::resume() {
    stale_ = false;
    std::fill(Y_.get(), Y_.get() + padded(system_->n_rows) * x_.stride, 0.0f);
    const float nothing[max_width] = {};
    const double none[max_width + 1] = {};
    double whole[max_width];
    std::fill(whole, whole + max_width, 1.0);
    advance<float>(Y_.get(), nothing, {}, whole, {nullptr, 0, 0}, nullptr, none, none);
}

void Descent::multiply() {
    Sums sums(problem_.n_chunks());
    problem_.for_rows([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
        problem_.kernels().product(*system_, x_, first, last, sums.part(chunk));
    });
}

template <class T>
void Descent::step(const Columns<T>& X, double* h, float* levels) {
    double rise[max_width + 1] = {};
    if (stale_) restart(rise);
    x_.reached = front_.rows();
    const Kernels& kernels = problem_.kernels();
    Sums pMp_parts(problem_.n_chunks());
    std::vector<Dots> parts(problem_.n_chunks());
    problem_.for_rows([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
        kernels.product(*system_, x_, first, last, pMp_parts.part(chunk));
    });
    double pMp[max_width], along[max_width + 1] = {}, beta[max_width] = {};
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
        kernels.descend(*system_, x_, alpha, first, last, parts[chunk], worst, most);
        const std::lock_guard<std::mutex> guard(mutex);
        raise(levels, worst, max_width + 1);
        raise(largest, most, max_width);
    });
    Dots dots = total(parts);
    front_.advance(*system_);
    const bool lifts = is_to_be_lifted();
    if (lifts) lift(dots, rise);
    const float* const from = factor_ || lifts ? precondition(dots, largest, true) : x_.Z;
    for (int l = 0; l < x_.lanes; ++l) {
        if (!std::isfinite(dots.flow[l])) {  // a maximum may lose a NaN, a sum does not
            levels[l] = std::numeric_limits<float>::infinity();
        }
        beta[l] = pMp[l] > 0 ? -dots.flow[l] / (pMp[l] * unit_[l]) : 0.0;
    }
    double* const own_h = h && problem_.nodes() ? exits_.get() : h;
    advance(from, largest, dots, beta, own_or(X), own_h, along, rise);
}

template Levels Descent::weigh<float>(const Columns<float>&, double*, const double*);
template Levels Descent::weigh<double>(const Columns<double>&, double*, const double*);
template void Descent::begin<float>(const Columns<float>&, const double*);
template void Descent::begin<double>(const Columns<double>&, const double*);
template void Descent::step<float>(const Columns<float>&, double*, float*);
template void Descent::step<double>(const Columns<double>&, double*, float*);
template void Descent::settle<float>(const Columns<float>&, double*, const double*, const double*,
                                     bool);
template void Descent::settle<double>(const Columns<double>&, double*, const double*,
                                      const double*, bool);
template double Descent::warmest<float>(const Columns<float>&) const;
template double Descent::warmest<double>(const Columns<double>&) const;
template void Descent::take<float>(const Columns<float>&, const double*);
template void Descent::take<double>(const Columns<double>&, const double*);
template void Descent::put_back<float>(const Columns<float>&, double*) const;
template void Descent::put_back<double>(const Columns<double>&, double*) const;

}  // namespace isotherm
