#include "bad_graph.hpp"

#include "kernels.hpp"

namespace isotherm {

void not_symmetric() {
    throw BadGraph(
        "the matrix of the graph is not symmetric: some edges are there in one direction only. Was it "
        "changed after the graph was made? Make the graph again");
}

void leads_outside() {
    throw BadGraph(
        "an entry of the graph leads to a node outside of it. Was it changed after the graph was made? "
        "Make the graph again");
}

void check_ends(const Graph& graph, std::int64_t first, std::int64_t last) {
    const std::int64_t begin = graph.start[first], count = graph.start[last] - begin;
    if (!best_kernels().are_nodes(graph.ends + begin, count, graph.n_nodes)) leads_outside();
}

void check_start(const Graph& graph) {
    if (!best_kernels().never_fall(graph.start, graph.n_nodes)) {
        throw BadGraph("rows of the graph overlap: start must not decrease");
    }
}

}  // namespace isotherm
