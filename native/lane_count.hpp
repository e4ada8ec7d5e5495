// A number of lanes that is known at run time, as one that is known at compile time: short loops over
// lanes are unrolled then, and need not be guessed.
#pragma once

#include <type_traits>
#include <utility>

#include "kernels.hpp"

namespace isotherm {

// Calls body(std::integral_constant<int, count>) for a count from 0 to max_width.
template <int Most = max_width, class Body>
void with_lane_count(int count, Body&& body) {
    if constexpr (Most > 0) {
        if (count < Most) return with_lane_count<Most - 1>(count, std::forward<Body>(body));
    }
    body(std::integral_constant<int, Most>());
}

}  // namespace isotherm
