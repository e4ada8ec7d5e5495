#include "multiply.hpp"

#include <algorithm>
#include <cstring>

#include "bad_graph.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

typedef float Row __attribute__((vector_size(sizeof(float) * panel_width)));

constexpr std::int64_t ahead = 16;  // entries by which rows are fetched before they are needed

template <bool weighted>
void multiply_rows(const Graph& graph, const float* X, float* Y, std::int64_t first,
                   std::int64_t last) {
    const std::int64_t end = graph.n_entries();
    for (std::int64_t i = first; i < last; ++i) {
        Row sum{};
        for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
            const std::int64_t later = graph.ends[std::min(e + ahead, end - 1)];
            __builtin_prefetch(X + later * panel_width);
            Row row;
            std::memcpy(&row, X + std::int64_t{graph.ends[e]} * panel_width, sizeof row);
            if constexpr (weighted) {
                sum += row * static_cast<float>(graph.weights[e]);
            } else {
                sum += row;
            }
        }
        std::memcpy(Y + i * panel_width, &sum, sizeof sum);
    }
}

}  // namespace

void multiply(const Graph& graph, const float* X, float* Y, int threads) {
    const auto rows = graph.weights ? multiply_rows<true> : multiply_rows<false>;
    for_cuts(threads, cut_rows(graph), [&](std::int64_t, std::int64_t first, std::int64_t last) {
        check_ends(graph, first, last);
        rows(graph, X, Y, first, last);
    });
}

}  // namespace isotherm
