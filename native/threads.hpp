// Work in chunks on several threads, interruptible.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

namespace isotherm {

// Thrown on the calling thread when `poll` asked to stop.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

// Asked now and then, on the calling thread, whether to stop. Set once, by the bindings.
using Poll = bool (*)();
void set_poll(Poll poll);

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

// Ends a long loop on the calling thread if it was interrupted; for code without chunks.
void check_interrupt();

// Bounds of chunks of rows with about equal work: start[i] counts the entries before row i.
// They depend on the graph alone, so that sums over chunks do not depend on the threads.
std::vector<std::int64_t> cut_rows(std::int64_t n_rows, const std::int64_t* start);

}  // namespace isotherm
