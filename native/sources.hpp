// Heat that is put in at some free nodes: what ties pull them by, or a source at a point.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels.hpp"
#include "peel.hpp"

namespace isotherm {

class Sources {
public:
    // Row k of `rows`, of so many columns, is put in at nodes[k].
    Sources(std::int64_t n_nodes, const Peel& peel, std::int64_t count, const std::int32_t* nodes,
            const double* rows, std::int64_t columns);

    // At each node, from column `first` on.
    Heat given(int first) const { return {row_of_.data(), given_.data() + first, columns_}; }
    // The same once peeled nodes have passed theirs on to their parents.
    Heat passed(int first) const { return {row_of_.data(), passed_.data() + first, columns_}; }

    std::int64_t columns() const { return columns_; }

private:
    std::int64_t columns_;
    std::vector<std::int32_t> row_of_;
    std::vector<double> given_, passed_;
};

}  // namespace isotherm
