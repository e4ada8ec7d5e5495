#include "values.hpp"

#include <algorithm>

namespace isotherm {

bool value_ranges(const double* values, std::int64_t rows, std::int64_t columns, double* low,
                  double* high) {
    std::copy(values, values + columns, low);
    std::copy(values, values + columns, high);
    bool one_hot = true;
    for (std::int64_t i = 0; i < rows; ++i) {
        const double* const row = values + i * columns;
        std::int64_t ones = 0, zeros = 0;
        for (std::int64_t k = 0; k < columns; ++k) {
            low[k] = std::min(low[k], row[k]);
            high[k] = std::max(high[k], row[k]);
            ones += row[k] == 1;
            zeros += row[k] == 0;
        }
        one_hot &= ones == 1 && zeros == columns - 1;
    }
    return one_hot;
}

}  // namespace isotherm
