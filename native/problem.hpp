// A Dirichlet problem made ready to be solved: what was peeled off, and the equations that are left.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "factor.hpp"
#include "kernels.hpp"
#include "peel.hpp"
#include "sources.hpp"
#include "system.hpp"
#include "threads.hpp"

namespace isotherm {

class Problem {
public:
    // `free` marks with 1 the free nodes that heat reaches. A node tied by a weight a, if there are
    // `ties`, has a / (1 + τ) in its degree besides its edges. The problem is reduced to begin
    // with if `reducing`, which pays if the graph is small. The arrays must outlive the problem.
    Problem(const Graph& graph, const std::uint8_t* free, const double* degrees,
            const double* ties, double leak, bool root, bool peeling, int threads,
            const Kernels& kernels, bool reducing);
    static bool is_small(std::int64_t n_entries);
    Problem(const Problem&) = delete;
    Problem& operator=(const Problem&) = delete;

    const Operator& M() const { return M_; }
    const Peel& peel() const { return peel_; }
    const Fold& fold() const { return reduced_ ? reduced_->fold() : no_fold_; }
    const Kernels& kernels() const { return kernels_; }
    int threads() const { return threads_; }
    double pivot(std::int64_t i) const { return mass_[i] * M_.largest_pivot; }

    // The equations to be solved; those of the graph's own rows until it is reduced.
    const System& system() const { return reduced_ ? reduced_->system() : whole_; }
    // What the rows of the system are, and those of the nodes, −1 without one; null: nodes themselves.
    const std::int32_t* nodes() const { return reduced_ ? reduced_->nodes().data() : nullptr; }
    const std::int32_t* row_of() const { return reduced_ ? reduced_->row_of().data() : nullptr; }
    std::int64_t node_of(std::int64_t row) const { return reduced_ ? reduced_->nodes()[row] : row; }
    std::int64_t row_of(std::int64_t i) const { return reduced_ ? reduced_->row_of()[i] : i; }
    bool is_reduced() const { return reduced_ != nullptr; }
    void reduce(Fold fold = {});

    // Whether rows of so many numbers would be found sooner in another order: they are too many for
    // a core's own cache, and their neighbours are far from them. Then reorder() gives them that
    // order; the row that each was before, unless the system has just been reduced.
    bool is_scattered(int width) const;
    std::vector<std::int32_t> reorder();
    bool is_reordered() const { return is_reordered_; }
    // Counts the changes of the system.
    int version() const { return version_; }

    // A preconditioner of the reduced system, made when first asked for.
    std::shared_ptr<const Factor> factor();
    bool is_factorised() const { return factor_ != nullptr; }
    std::int64_t factor_entries() const { return factor_ ? factor_->n_entries() : 0; }

    // Calls body(chunk, first, last) for chunks of the system's rows.
    template <class Body>
    void for_rows(Body body) const {
        for_cuts(threads_, system_cuts_, body);
    }
    std::int64_t n_chunks() const { return static_cast<std::int64_t>(system_cuts_.size()) - 1; }
    // The same for nodes.
    template <class Body>
    void for_nodes(Body body) const {
        for_cuts(threads_, cuts_, body);
    }

    // Calls body(i, j, weight) for edges between nodes i that are not held and nodes j that are.
    template <class Body>
    void for_boundary(Body body) const {
        const Graph& graph = M_.graph;
        for (std::int64_t j = 0; j < graph.n_nodes; ++j) {
            if (kind_[j] != held) continue;
            for (std::int64_t e = graph.start[j]; e < graph.start[j + 1]; ++e) {
                if (kind_[graph.ends[e]] != held) body(graph.ends[e], j, graph.weight(e));
            }
        }
    }

    // Residuals of X as it is, left in task.Z, and their sizes.
    template <class T>
    Levels residual(const Task<T>& task) const;

    // The same of h; rows of Z are `stride` apart.
    double exit_residual(const double* h, float* Z, int stride) const;

    // The longest exit time; 0 if there is none.
    double greatest(const double* h) const;

    // Gives nodes that were eliminated, by peeling or folding, the values that the others, and the
    // heat that was passed on to them, imply, within [low, high]. Heat is by node; of a folded
    // system, `X.count` numbers for each.
    template <class T>
    void hang(const Columns<T>& X, double* h, const double* low, const double* high,
              const Heat& passed, const double* folded) const;

    // The same, with all of X kept within [low, high].
    template <class T>
    void settle(const Columns<T>& X, double* h, const double* low, const double* high,
                const Heat& passed, const double* folded) const;

private:
    void find_exits();
    void cut();

    std::vector<std::uint8_t> kind_;
    std::vector<std::int64_t> cuts_, system_cuts_;
    std::vector<float> mass_, exits_;  // padded
    Operator M_;
    Peel peel_;
    Fold no_fold_;
    System whole_{};
    std::unique_ptr<Reduced> reduced_;
    std::shared_ptr<const Factor> factor_;
    const Kernels& kernels_;
    int threads_, version_ = 0;
    bool is_reordered_ = false;
};

}  // namespace isotherm
