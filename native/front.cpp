#include "front.hpp"

#include <algorithm>

namespace isotherm {
namespace {

constexpr std::int64_t least_entries = 1 << 16;  // below, a step is over before this is worth it
constexpr std::int64_t share = 256;  // to follow more than one of so many entries costs what it saves

}  // namespace

void Front::end() {
    reached_ = {};
    newest_ = {};
}

// Whether too many entries belong to the rows that came last, and to those before.
bool Front::is_far(const System& M) {
    for (const std::int32_t row : newest_) entries_ += M.start[row + 1] - M.start[row];
    return entries_ > M.start[M.n_rows] / share;
}

void Front::begin(const System& M, const Vectors& x) {
    end();
    entries_ = 0;
    const std::int64_t entries = M.start[M.n_rows];
    if (entries < least_entries) return;
    std::int64_t met = 0;
    for (std::int64_t row = 0; row < M.n_rows; ++row) {
        const float* const z = x.Z + row * x.stride;
        if (std::all_of(z, z + x.lanes, [](float number) { return number == 0; })) continue;
        met += M.start[row + 1] - M.start[row];
        if (met > entries / share) return end();
        newest_.push_back(static_cast<std::int32_t>(row));
    }
    reached_.assign(static_cast<std::size_t>(M.n_rows), 0);
    for (const std::int32_t row : newest_) reached_[row] = 1;
}

void Front::advance(const System& M) {
    if (reached_.empty()) return;
    if (is_far(M)) return end();
    std::vector<std::int32_t> next;
    for (const std::int32_t row : newest_) {
        for (std::int64_t e = M.start[row]; e < M.start[row + 1]; ++e) {
            const std::int32_t other = M.ends[e];
            if (reached_[other] || !(M.mass[other] > 0)) continue;
            reached_[other] = 1;
            next.push_back(other);
        }
    }
    newest_ = std::move(next);
}

}  // namespace isotherm
