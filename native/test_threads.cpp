#include "threads.hpp"
#include "test_core.hpp"

namespace isotherm {
namespace {

void each_chunk_is_done_once(int threads) {
    for (const Int n_chunks : {0, 1, 3, 1000}) {
        std::vector<std::atomic<int>> done(n_chunks);
        for_chunks(threads, n_chunks, [&](Int c) { ++done[c]; });
        for (const auto& times : done) CHECK(times == 1);
    }
    std::vector<int> done(1001, 0);
    for_pieces(threads, 1001, 10, [&](Int first, Int last) {
        for (Int i = first; i < last; ++i) ++done[i];
    });
    CHECK(done == std::vector<int>(1001, 1));
}

void what_a_chunk_throws_is_thrown(int threads) {
    for (const Int bad : {0, 57, 99}) {
        CHECK(throws<std::domain_error>([&] {
            for_chunks(threads, 100, [&](Int c) {
                if (c == bad) throw std::domain_error("bad");
            });
        }));
        each_chunk_is_done_once(threads);
    }
}

void loops_may_be_nested(int threads) {
    for_chunks(threads, 8, [&](Int) {
        each_chunk_is_done_once(threads);
        what_a_chunk_throws_is_thrown(threads);
    });
}

void two_callers_may_loop_at_once(int threads) {
    const auto work = [&] {
        for (int k = 0; k < 30; ++k) each_chunk_is_done_once(threads);
    };
    std::thread other(work);
    work();
    other.join();
}

int times_asked;  // not atomic: only the calling thread may ask

void a_poll_interrupts(int threads) {
    times_asked = 0;
    set_poll([] { return ++times_asked >= 2; });
    CHECK(throws<Interrupted>([&] {
        for_chunks(threads, 1 << 20, [](Int) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
    }));
    CHECK(times_asked == 2);
    CHECK(throws<Interrupted>([] { check_interrupt(); }));
    set_poll(nullptr);
    check_interrupt();
    each_chunk_is_done_once(threads);
}

void test_loops(int threads) {
    each_chunk_is_done_once(threads);
    what_a_chunk_throws_is_thrown(threads);
    loops_may_be_nested(threads);
    two_callers_may_loop_at_once(threads);
    a_poll_interrupts(threads);
}

}  // namespace

void test_threads() {
    for (const int threads : {1, 2, 4}) test_loops(threads);
}

}  // namespace isotherm
