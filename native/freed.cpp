#include "freed.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "bad_graph.hpp"
#include "rounding.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

constexpr double tiny = std::numeric_limits<double>::min();
constexpr std::int64_t seeds_per_piece = 32;

// Seed j of them.
template <class T, class U>
void free_one(const Graph& graph, double leak, const HeldSeeds& seeds, std::int64_t j,
              const Known<T>& known, const Responses<U>& responses, const Freed& into,
              std::vector<double>& sizes) {
    const std::int64_t K = seeds.n_classes, node = seeds.nodes[j];
    const std::int64_t first = graph.start[node], last = graph.start[node + 1];
    const double* const own = seeds.own + j * K;
    const double own_error = seeds.own_errors[j];
    const auto response = [&](std::int64_t i) { return double(responses.temperatures[i * seeds.count + j]); };
    const auto response_error = [&](std::int64_t i) {
        return lower(responses.nodes[i] * responses.columns[j], responses.spans[j]);
    };
    // The response to the node itself, which is that to the seed unless it is tied.
    const double x = response(node), x_error = response_error(node), unit = x - x_error;

    double* const r = into.temperatures + j * K;  // until it is known
    for (std::int64_t k = 0; k < K; ++k) r[k] = sizes[k] = 0;
    double degree = 0, escape = 0, escape_size = 0, r_error = 0, escape_error = 0;
    for (std::int64_t e = first; e < last; ++e) {
        const std::int64_t i = graph.ends[e];
        const double weight = graph.weight(e), g = response(i) / x, escaping = weight * (1 - g);
        degree += weight;
        escape += escaping;
        escape_size += std::fabs(escaping);
        r_error += weight * (known.errors[i] + own_error);
        escape_error += weight * ((response_error(i) + g * x_error) / unit);
        const T* const t = known.temperatures + i * K;
        for (std::int64_t k = 0; k < K; ++k) {
            const double flow = weight * (t[k] - own[k]);
            r[k] += flow;
            sizes[k] += std::fabs(flow);
        }
    }

    // See rounding_of_sums in isotherm/rounding.py.
    const double operations = static_cast<double>(last - first) + 8;
    const double rounding = 1.01 * operations * unit_roundoff, underflow = 4 * operations * tiny;
    const double lost = leak * degree;
    double r_size = 0, largest = 0;
    escape += lost;
    for (std::int64_t k = 0; k < K; ++k) {
        r_size = upper(r_size, sizes[k]);
        r[k] = (r[k] - lost * own[k]) / escape;
        largest = upper(largest, std::fabs(r[k]));
    }
    r_error += lost * own_error + rounding * (r_size + lost) + underflow;
    escape_error += rounding * (escape_size + lost) + underflow;
    const double error = (r_error + largest * escape_error) / (escape - escape_error);
    const double sum = responses.sums[j], total = sum / x;
    const double sum_error = responses.exits * responses.columns[j] +
                             sum * static_cast<double>(responses.n_summed) * unit_roundoff;
    const double total_error = (sum_error + total * x_error) / unit;
    for (std::int64_t k = 0; k < K; ++k) {
        into.changes[j * K + k] = r[k] * total;
        r[k] += own[k];
    }
    const bool sound = least_covered <= degree && degree <= covered && unit > 0 && escape > escape_error;
    into.errors[j] = sound ? (own_error + error) * (1 + 1e-12) + 4 * unit_roundoff
                           : std::numeric_limits<double>::infinity();
    into.change_errors[j] = largest * total_error + error * (total + total_error);
}

}  // namespace

template <class T, class U>
void free_each(const Graph& graph, double leak, const HeldSeeds& seeds, const Known<T>& known,
               const Responses<U>& responses, const Freed& into, int threads) {
    for_pieces(threads, seeds.count, seeds_per_piece, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t j = first; j < last; ++j)
            check_ends(graph, seeds.nodes[j], seeds.nodes[j] + 1);
        std::vector<double> sizes(static_cast<std::size_t>(seeds.n_classes));
        for (std::int64_t j = first; j < last; ++j)
            free_one(graph, leak, seeds, j, known, responses, into, sizes);
    });
}

template void free_each(const Graph&, double, const HeldSeeds&, const Known<float>&,
                        const Responses<float>&, const Freed&, int);
template void free_each(const Graph&, double, const HeldSeeds&, const Known<float>&,
                        const Responses<double>&, const Freed&, int);
template void free_each(const Graph&, double, const HeldSeeds&, const Known<double>&,
                        const Responses<float>&, const Freed&, int);
template void free_each(const Graph&, double, const HeldSeeds&, const Known<double>&,
                        const Responses<double>&, const Freed&, int);

}  // namespace isotherm
