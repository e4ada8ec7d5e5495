#include "reach.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "bad_graph.hpp"
#include "buffer.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

using Nodes = std::vector<std::int32_t>;

// The node that an entry leads to.
std::int32_t end_of(const Graph& graph, std::int64_t e) {
    const std::int32_t end = graph.ends[e];
    if (static_cast<std::uint32_t>(end) >= static_cast<std::uint64_t>(graph.n_nodes)) leads_outside();
    return end;
}

// Of small graphs every entry may as well be looked at: no processor could foresee which lead on.
constexpr std::int64_t few_entries = 1 << 15;

// Every node not yet marked looks for a marked neighbour, and stops at the first; returns those
// that found one. With many nodes marked this looks at a few entries per node only.
Nodes pull(const Graph& graph, std::uint8_t* marked, int threads,
           const std::vector<std::int64_t>& cuts) {
    const auto is_marked = [&](std::int64_t i) {
        return __atomic_load_n(marked + i, __ATOMIC_RELAXED) != 0;
    };
    Nodes all;
    std::mutex mutex;
    for_cuts(threads, cuts, [&](std::int64_t, std::int64_t first, std::int64_t last) {
        Nodes found;
        for (std::int64_t i = first; i < last; ++i) {
            if (is_marked(i)) continue;
            for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                if (!is_marked(end_of(graph, e))) continue;
                __atomic_store_n(marked + i, 1, __ATOMIC_RELAXED);
                found.push_back(static_cast<std::int32_t>(i));
                break;
            }
        }
        const std::lock_guard<std::mutex> guard(mutex);
        all.insert(all.end(), found.begin(), found.end());
    });
    return all;
}

// These nodes pass their mark on, and so do those they reach. Each waits at most once, and whether it
// has to is counted, not guessed: behind the last that waits there is room for one that need not.
void push(const Graph& graph, std::uint8_t* marked, const Nodes& first) {
    const Buffer<std::int32_t> waiting(graph.n_nodes + 1, Contents::any);
    std::copy(first.begin(), first.end(), waiting.get());
    auto end = static_cast<std::int64_t>(first.size());
    for (std::int64_t next = 0; next < end; ++next) {
        const std::int32_t i = waiting[next];
        for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
            const std::int32_t j = end_of(graph, e);
            waiting[end] = j;
            end += !marked[j];
            marked[j] = 1;
        }
        if (next % (1 << 20) == 0) check_interrupt();
    }
}

std::int32_t root(std::int32_t* parent, std::int32_t i) {
    std::int32_t up = __atomic_load_n(parent + i, __ATOMIC_RELAXED);
    while (up != i) {
        const std::int32_t above = __atomic_load_n(parent + up, __ATOMIC_RELAXED);
        // Halve the path, unless another thread has just moved it.
        std::int32_t expected = up;
        __atomic_compare_exchange_n(parent + i, &expected, above, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
        i = up;
        up = above;
    }
    return i;
}

void join(std::int32_t* parent, std::int32_t a, std::int32_t b) {
    a = root(parent, a);
    b = root(parent, b);
    while (a != b) {  // the larger root joins the smaller, unless another thread was quicker
        if (a < b) std::swap(a, b);
        std::int32_t expected = a;
        if (__atomic_compare_exchange_n(parent + a, &expected, b, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            return;
        }
        a = root(parent, a);
        b = root(parent, b);
    }
}

// One component after the other, each from its least node. As above, who has to wait is counted.
std::int64_t search(const Graph& graph, std::int32_t* component) {
    check_ends(graph, 0, graph.n_nodes);
    const Buffer<std::int32_t> waiting(graph.n_nodes + 1, Contents::any);
    for (std::int64_t i = 0; i < graph.n_nodes; ++i) component[i] = -1;
    std::int32_t count = 0;
    for (std::int32_t root = 0; root < graph.n_nodes; ++root) {
        if (component[root] >= 0) continue;
        component[root] = count;
        waiting[0] = root;
        for (std::int64_t next = 0, end = 1; next < end; ++next) {
            const std::int32_t i = waiting[next];
            for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                const std::int32_t j = graph.ends[e];
                waiting[end] = j;
                end += component[j] < 0;
                component[j] = count;
            }
        }
        ++count;
    }
    return count;
}

}  // namespace

void reach(const Graph& graph, std::uint8_t* marked, int threads) {
    const auto cuts = cut_rows(graph);
    // Pulling is quick while it reaches many; a long thin rest is left to pushing. Whoever is
    // still to be reached is so by those found last: the others' neighbours have all looked.
    for (;;) {
        const Nodes found = pull(graph, marked, threads, cuts);
        if (static_cast<std::int64_t>(found.size()) <= graph.n_nodes / 16) {
            return push(graph, marked, found);
        }
    }
}

std::int64_t components(const Graph& graph, std::int32_t* component, int threads,
                        std::int64_t first_ghost) {
    if (first_ghost == INT64_MAX && graph.n_entries() <= few_entries) {
        return search(graph, component);
    }
    std::int32_t* const parent = component;
    for (std::int64_t i = 0; i < graph.n_nodes; ++i) parent[i] = static_cast<std::int32_t>(i);
    for_cuts(threads, cut_rows(graph), [&](std::int64_t, std::int64_t first, std::int64_t last) {
        check_ends(graph, first, last);
        for (std::int64_t i = first; i < last; ++i) {
            for (std::int64_t e = graph.start[i]; e < graph.start[i + 1]; ++e) {
                if (graph.ends[e] >= i) break;  // rows are sorted: the rest is seen from below
                join(parent, static_cast<std::int32_t>(i), graph.ends[e]);
            }
            // Ghosts, at the end of a row, have no rows from which it could be seen.
            for (std::int64_t e = graph.start[i + 1];
                 e-- > graph.start[i] && graph.ends[e] >= first_ghost;) {
                join(parent, static_cast<std::int32_t>(i), graph.ends[e]);
            }
        }
    });
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < graph.n_nodes; ++i) {
        // A parent is smaller than its child, so it has its number already.
        const std::int32_t up = parent[i];
        component[i] = up == i ? static_cast<std::int32_t>(count++) : component[up];
    }
    return count;
}

}  // namespace isotherm
