#include "superpose.hpp"

#include <mutex>
#include <vector>

#include "rounding.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

constexpr std::int64_t nodes_per_chunk = 1 << 13;

}  // namespace

template <class T>
void superpose(const Superposition<T>& sum, T* X, double* level, int threads,
               const Superposer& superposer) {
    std::mutex mutex;
    for (std::int64_t k = 0; k < sum.columns; ++k) level[k] = 0;
    for_pieces(threads, sum.n_nodes, nodes_per_chunk, [&](std::int64_t first, std::int64_t last) {
        std::vector<double> found(static_cast<std::size_t>(sum.columns));
        if constexpr (sizeof(T) == 4) superposer.add_up_f(sum, first, last, X, found.data());
        else superposer.add_up_d(sum, first, last, X, found.data());
        const std::lock_guard<std::mutex> lock(mutex);
        for (std::int64_t k = 0; k < sum.columns; ++k) level[k] = upper(level[k], found[k]);
    });
    // Its own rounding.
    for (std::int64_t k = 0; k < sum.columns; ++k) level[k] *= 1 + 8 * unit_roundoff;
}

template void superpose<float>(const Superposition<float>&, float*, double*, int, const Superposer&);
template void superpose<double>(const Superposition<double>&, double*, double*, int,
                                const Superposer&);

}  // namespace isotherm
