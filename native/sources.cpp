#include "sources.hpp"

namespace isotherm {

Sources::Sources(std::int64_t n_nodes, const Peel& peel, std::int64_t count,
                 const std::int32_t* nodes, const double* rows, std::int64_t columns)
    : columns_(columns),
      row_of_(static_cast<std::size_t>(n_nodes), -1),
      given_(rows, rows + count * columns) {
    for (std::int64_t k = 0; k < count; ++k) row_of_[nodes[k]] = static_cast<std::int32_t>(k);
    passed_ = given_;
    for (std::size_t k = 0; k < peel.child.size(); ++k) {  // a node comes before its parent
        const std::int32_t child = row_of_[peel.child[k]];
        if (child < 0) continue;
        std::int32_t& parent = row_of_[peel.parent[k]];
        if (parent < 0) {  // has none of its own
            parent = static_cast<std::int32_t>(passed_.size() / columns);
            given_.resize(given_.size() + columns, 0.0);
            passed_.resize(passed_.size() + columns, 0.0);
        }
        for (std::int64_t c = 0; c < columns; ++c) {
            passed_[parent * columns + c] += peel.ratio[k] * passed_[child * columns + c];
        }
    }
}

}  // namespace isotherm
