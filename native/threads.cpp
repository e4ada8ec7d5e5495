#include "threads.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif
#if !defined(_WIN32)
#include <pthread.h>
#endif

#include "arithmetic.hpp"

namespace isotherm {
namespace {

std::atomic<Poll> the_poll{nullptr};
std::atomic<std::chrono::milliseconds> between_polls{std::chrono::milliseconds(0)};

class Watch {
public:
    bool stop() {
        const Poll poll = the_poll.load(std::memory_order_relaxed);
        if (!poll) return false;
        const auto now = std::chrono::steady_clock::now();
        if (now < next_) return false;
        next_ = now + between_polls.load(std::memory_order_relaxed);
        return poll();
    }

private:
    std::chrono::steady_clock::time_point next_ =
        std::chrono::steady_clock::now() + between_polls.load(std::memory_order_relaxed);
};

// One parallel loop. Each worker has a share of the chunks, the same in every loop of as many chunks,
// so that it finds in its cache what it has left there; who is done helps the others.
class Loop {
public:
    Loop(std::int64_t n_chunks, int workers, const std::function<void(std::int64_t)>& todo)
        : body_(todo), shares_(static_cast<std::size_t>(workers)) {
        for (std::int64_t k = 0; k < workers; ++k) {
            shares_[k].next = n_chunks * k / workers;
            shares_[k].end = n_chunks * (k + 1) / workers;
        }
    }

    void work(std::size_t worker, Watch* watch) {
        try {
            for (std::size_t k = 0; k < shares_.size(); ++k) {
                Share& share = shares_[(worker + k) % shares_.size()];
                while (!stopped_.load(std::memory_order_relaxed)) {
                    const std::int64_t chunk = share.next.fetch_add(1, std::memory_order_relaxed);
                    if (chunk >= share.end) break;
                    body_(chunk);
                    if (watch && watch->stop()) throw Interrupted();
                }
            }
        } catch (...) {
            const std::lock_guard<std::mutex> guard(mutex_);
            if (!error_) error_ = std::current_exception();
            stopped_ = true;
        }
    }

    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    struct alignas(64) Share {
        std::atomic<std::int64_t> next{0};
        std::int64_t end = 0;
    };

    const std::function<void(std::int64_t)>& body_;
    std::vector<Share> shares_;
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::exception_ptr error_;
};

thread_local bool inside_a_loop = false;

// A pause for a processor that waits for another one.
inline void breathe() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

// Looks for something to come true for so long as it takes to put a thread to sleep and wake it
// again, which is longer than most loops.
template <class Condition>
bool comes_soon(Condition holds) {
    constexpr auto patience = std::chrono::microseconds(200);
    constexpr int between_looks_at_the_clock = 64;
    const auto begun = std::chrono::steady_clock::now();
    do {
        for (int k = 0; k < between_looks_at_the_clock; ++k) {
            if (holds()) return true;
            breathe();
        }
    } while (std::chrono::steady_clock::now() - begun < patience);
    return false;
}

// Threads that wait for loops. It lives as long as the process: joining threads while a process
// ends, possibly inside another library's exit handler, is a known way to hang.
class Pool {
public:
    void run(int threads, Loop& loop) {
        // A loop inside a loop, or a second caller: that caller works by itself.
        std::unique_lock<std::mutex> alone(one_at_a_time_, std::defer_lock);
        const bool inside = inside_a_loop;
        const int helpers = !inside && alone.try_lock() ? hire(threads - 1) : 0;
        inside_a_loop = true;
        Watch watch;
        if (helpers > 0) {
            bool any_asleep = false;
            {
                const std::lock_guard<std::mutex> guard(mutex_);
                loop_ = &loop;
                seats_ = helpers;
                generation_.fetch_add(1, std::memory_order_release);
                any_asleep = asleep_ > 0;
            }
            if (any_asleep) wake_.notify_all();
        }
        loop.work(0, &watch);
        if (helpers > 0) {
            std::unique_lock<std::mutex> guard(mutex_);
            seats_ = 0;  // who has not started need not
            loop_ = nullptr;
            guard.unlock();
            const auto is_over = [&] { return working_.load(std::memory_order_acquire) == 0; };
            if (!comes_soon(is_over)) {
                guard.lock();
                finished_.wait(guard, is_over);
            }
        }
        inside_a_loop = inside;
    }

private:
    int hire(int wanted) {
        for (; hired_ < wanted; ++hired_) {
            try {
                std::thread([this] { serve(); }).detach();
            } catch (const std::system_error&) {
                break;  // no more threads to be had: do with those there are
            }
        }
        return std::min(wanted, hired_);
    }

    void serve() {
        const StandardArithmetic standard;
        inside_a_loop = true;
        std::uint64_t seen = 0;
        const auto is_new = [&] { return generation_.load(std::memory_order_acquire) != seen; };
        for (;;) {
            const bool soon = comes_soon(is_new);
            std::unique_lock<std::mutex> guard(mutex_);
            if (!soon) {
                ++asleep_;
                wake_.wait(guard, is_new);
                --asleep_;
            }
            seen = generation_.load(std::memory_order_relaxed);
            if (seats_ == 0) continue;  // all taken, or over
            const int seat = seats_--;
            working_.fetch_add(1, std::memory_order_relaxed);
            Loop* const loop = loop_;
            guard.unlock();
            loop->work(static_cast<std::size_t>(seat), nullptr);
            guard.lock();
            if (working_.fetch_sub(1, std::memory_order_release) == 1) finished_.notify_all();
        }
    }

    std::mutex one_at_a_time_, mutex_;
    std::condition_variable wake_, finished_;
    Loop* loop_ = nullptr;
    std::atomic<std::uint64_t> generation_{0};
    std::atomic<int> working_{0};
    int hired_ = 0, seats_ = 0, asleep_ = 0;
};

std::atomic<Pool*> the_pool{nullptr};

#if !defined(_WIN32)
// A forked child has none of its parent's threads: it starts a pool of its own. No lock is taken, which
// a child could find taken by a thread that it does not have.
[[maybe_unused]] const int forgets_when_forked =
    pthread_atfork(nullptr, nullptr, [] { the_pool = nullptr; });
#endif

Pool& pool() {
    Pool* current = the_pool;
    if (current) return *current;
    auto fresh = std::make_unique<Pool>();
    if (the_pool.compare_exchange_strong(current, fresh.get())) current = fresh.release();
    return *current;
}

}  // namespace

void set_poll(Poll poll, std::chrono::milliseconds every) {
    between_polls = every;
    the_poll = poll;
}

void for_chunks(int threads, std::int64_t n_chunks,
                const std::function<void(std::int64_t)>& body) {
    if (n_chunks == 1) return body(0);  // what is over so soon need not even look at the clock
    const int useful = static_cast<int>(std::min<std::int64_t>(threads, n_chunks));
    Loop loop(n_chunks, std::max(useful, 1), body);
    if (useful > 1) {
        pool().run(useful, loop);
    } else {
        Watch watch;
        loop.work(0, &watch);
    }
    loop.rethrow();
}

int usable_processors() {
#if defined(__linux__)
    cpu_set_t usable;  // room for 1024; where there are more, the system does not tell this way
    if (sched_getaffinity(0, sizeof usable, &usable) == 0) return std::max(CPU_COUNT(&usable), 1);
#endif
    return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

void check_interrupt() {
    const Poll poll = the_poll.load(std::memory_order_relaxed);
    if (poll && poll()) throw Interrupted();
}

}  // namespace isotherm
