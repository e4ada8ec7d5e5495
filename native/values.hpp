// What the values of a boundary tell of all temperatures.
#pragma once

#include <cstdint>

namespace isotherm {

// Finds the least and the greatest of each column of `values`, rows by columns; returns whether each
// row has one 1 and otherwise zeros. There must be a row.
bool value_ranges(const double* values, std::int64_t rows, std::int64_t columns, double* low,
                  double* high);

}  // namespace isotherm
