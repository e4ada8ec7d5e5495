// What bounds on rounding share; see isotherm/rounding.py and isotherm/solvers/certificate.py.
#pragma once

#include "arithmetic.hpp"

namespace isotherm {

constexpr double unit_roundoff = 0x1p-53;
constexpr double least_covered = 0x1p-500, covered = 0x1p500;  // degrees and exit times

// Of a pair; a NaN stays.
inline double lower(double a, double b) { return a != a || a < b ? a : b; }
inline double upper(double a, double b) { return a != a || a > b ? a : b; }

}  // namespace isotherm
