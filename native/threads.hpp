// Work in chunks on several threads, interruptible.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "graph.hpp"

namespace isotherm {

// Thrown on the calling thread when `poll` asked to stop.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

// Asked now and then, on the calling thread, whether to stop. Set once, by the bindings. It may take
// a lock of the host language, so that between chunks it is asked no more often than `every` so long.
using Poll = bool (*)();
void set_poll(Poll poll, std::chrono::milliseconds every = std::chrono::milliseconds(100));

// Calls body(0) … body(n_chunks − 1), each once, in any order, on up to `threads` threads. The
// calling thread takes part. What body throws is thrown here.
void for_chunks(int threads, std::int64_t n_chunks, const std::function<void(std::int64_t)>& body);

// Calls body(first, last) on pieces of [0, n) of the given size, likewise.
template <class Body>
void for_pieces(int threads, std::int64_t n, std::int64_t size, Body body) {
    for_chunks(threads, (n + size - 1) / size, [&](std::int64_t c) {
        body(c * size, std::min(n, (c + 1) * size));
    });
}

// Calls body(chunk, first, last) for the rows between cuts, see cut_rows, likewise.
template <class Body>
void for_cuts(int threads, const std::vector<std::int64_t>& cuts, Body body) {
    for_chunks(threads, static_cast<std::int64_t>(cuts.size()) - 1,
               [&](std::int64_t c) { body(c, cuts[c], cuts[c + 1]); });
}

// Processors that this process may use.
int usable_processors();

// Ends a long loop on the calling thread if it was interrupted; for code without chunks.
void check_interrupt();

// Bounds of chunks of rows with about equal work: start(i) counts the entries before row i. Chunks
// begin at multiples of 16. They depend on the graph alone, so that sums over chunks do not depend
// on the threads.
template <class Start>
std::vector<std::int64_t> cut_rows(std::int64_t n_rows, Start start) {
    // A row costs about as much as a few entries even if it has none. A chunk is large enough to
    // hide the cost of handing it out, and small enough to be over in milliseconds. What is over in
    // some ten microseconds anyway is not worth waking another thread: it is left in one chunk.
    constexpr std::int64_t row_cost = 4, chunk_cost = 1 << 14, least = 1 << 16, rows_at_once = 16;
    const std::int64_t total = start(n_rows) + row_cost * n_rows;
    const std::int64_t chunks = total < least ? 1 : total / chunk_cost;
    const std::int64_t share = total / chunks + 1;
    std::vector<std::int64_t> cuts{0};
    std::int64_t begun = 0;
    for (std::int64_t i = rows_at_once; i < n_rows; i += rows_at_once) {
        const std::int64_t cost = start(i) + row_cost * i;
        if (cost - begun < share) continue;
        cuts.push_back(i);
        begun = cost;
    }
    cuts.push_back(n_rows);
    return cuts;
}
inline std::vector<std::int64_t> cut_rows(const Graph& graph) {
    return cut_rows(graph.n_nodes, [&](std::int64_t i) { return graph.start[i]; });
}

}  // namespace isotherm
