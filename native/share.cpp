#include "share.hpp"

#include <vector>

#include "kernels.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

constexpr std::int64_t piece = 1 << 12;  // rows streamed at once

const ShareKernels& best(int width) {
#if defined(ISOTHERM_X86)
    if (find_kernels("avx512")) return share_kernels_avx512(width);
    if (find_kernels("avx2")) return share_kernels_avx2(width);
#endif
    return share_kernels_plain(width);
}

WeighRows best_weigh(int columns) {
#if defined(ISOTHERM_X86)
    if (find_kernels("avx512")) return weigh_rows_avx512(columns);
    if (find_kernels("avx2")) return weigh_rows_avx2(columns);
#endif
    return weigh_rows_plain(columns);
}

// Sums and maxima by chunk, so that they do not depend on the threads.
struct Parts {
    Parts(std::int64_t chunks, int width)
        : width(width),
          dots(chunks * width, 0.0),
          staying(chunks * width, 0.0),
          levels(chunks * width, 0.0f) {}

    SumsOfRows of(std::int64_t c) {
        return {dots.data() + c * width, staying.data() + c * width, levels.data() + c * width};
    }

    void combine(const SumsOfShare& all) const {
        for (int k = 0; k < width; ++k) {
            double sum = 0.0, stays = 0.0, most = 0.0;
            for (std::size_t at = k; at < dots.size(); at += width) {
                sum += dots[at];
                stays += staying[at];
                if (most == most && !(most >= levels[at])) most = levels[at];  // NaN stays one
            }
            all.dots[k] = sum;
            if (all.staying) all.staying[k] = stays;
            if (all.levels) all.levels[k] = most;
        }
    }

    int width;
    std::vector<double> dots, staying;
    std::vector<float> levels;
};

std::vector<std::int64_t> cuts_of(const Share& share) {
    return cut_rows(share.n_own, [&](std::int64_t i) { return share.graph.start[i]; });
}

std::vector<float> rounded(const double* numbers, int width) {
    return std::vector<float>(numbers, numbers + width);
}

}  // namespace

void multiply_share(const Share& share, int width, const float* P, float* V, double* dots,
                    int threads) {
    const auto cuts = cuts_of(share);
    const auto run = best(width).multiply;
    Parts parts(static_cast<std::int64_t>(cuts.size()) - 1, width);
    for_cuts(threads, cuts, [&](std::int64_t c, std::int64_t first, std::int64_t last) {
        run(share, P, V, parts.of(c), first, last);
    });
    parts.combine({dots, nullptr, nullptr});
}

void descend_share(const Share& share, int width, const double* alpha, const float* P,
                   const float* V, float* D, float* R, const SumsOfShare& sums, int threads) {
    const auto a = rounded(alpha, width);
    const auto run = best(width).descend;
    Parts parts((share.n_own + piece - 1) / piece, width);
    for_pieces(threads, share.n_own, piece, [&](std::int64_t first, std::int64_t last) {
        run(share, a.data(), P, V, D, R, parts.of(first / piece), first, last);
    });
    parts.combine(sums);
}

void turn_share(const Share& share, int width, const double* beta, const double* shift,
                const float* R, float* P, int threads) {
    const auto b = rounded(beta, width), s = rounded(shift, width);
    const auto run = best(width).turn;
    for_pieces(threads, share.n_own, piece, [&](std::int64_t first, std::int64_t last) {
        run(share, b.data(), s.data(), R, P, first, last);
    });
}

void weigh_share(const Share& share, const Heating& heat, const Lot& lot, float* R, int stride,
                 const SumsOfShare& sums, int threads) {
    const auto cuts = cuts_of(share);
    const auto run = best_weigh(lot.columns);
    Parts parts(static_cast<std::int64_t>(cuts.size()) - 1, lot.columns);
    for_cuts(threads, cuts, [&](std::int64_t c, std::int64_t first, std::int64_t last) {
        run(share, heat, lot.X, R, stride, parts.of(c), first, last);
    });
    parts.combine(sums);
}

}  // namespace isotherm
