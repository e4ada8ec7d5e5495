// How far heat from a few nodes can have got: an edge further with each step. As long as that is not
// far, most rows have no sum to make.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels.hpp"

namespace isotherm {

class Front {
public:
    // From the rows of Z that are not 0, if these are few.
    void begin(const System& M, const Vectors& x);
    // An edge further, unless that is too far to be worth it.
    void advance(const System& M);
    // From now on, heat may be anywhere.
    void end();

    // Not 0 at rows that it may have got to; null: to all.
    const std::uint8_t* rows() const { return reached_.empty() ? nullptr : reached_.data(); }

private:
    bool is_far(const System& M);

    std::vector<std::uint8_t> reached_;
    std::vector<std::int32_t> newest_;
    std::int64_t entries_ = 0;  // of all rows so far
};

}  // namespace isotherm
