// The core against slow obvious loops, on random graphs. It is there to be run under sanitizers:
//   cmake -S native -B build/core -DISOTHERM_TEST_CORE=ON -DISOTHERM_SANITIZE=address,undefined
//   cmake --build build/core && build/core/test_core
// By its arguments, only some of it: names of parts, or `on_threads` for those in which several threads
// work at once, which is all that the thread sanitizer has anything to say about.
#include "test_core.hpp"

namespace {

struct Part {
    const char* name;
    void (*run)();
    bool on_threads = false;

    bool is_meant_by(const char* word) const {
        return !std::strcmp(word, name) || (on_threads && !std::strcmp(word, "on_threads"));
    }
};
constexpr Part parts[] = {
    {"graphs", isotherm::test_graphs, true},
    {"kernels", isotherm::test_kernels},
    {"solves", isotherm::test_solves},
    {"solves_on_threads", isotherm::test_solves_on_threads, true},
    {"steering", isotherm::test_steering},
    {"interrupts_on_threads", isotherm::test_interrupts_on_threads, true},
    {"proofs", isotherm::test_proofs},
    {"proofs_on_threads", isotherm::test_proofs_on_threads, true},
    {"rounding", isotherm::test_rounding},
    {"certificates", isotherm::test_certificates},
    {"verdicts", isotherm::test_verdicts, true},
    {"threads", isotherm::test_threads, true},
};

}  // namespace

int main(int count, char** words) {
    for (int k = 1; k < count; ++k) {
        const auto is_meant = [&](const Part& part) { return part.is_meant_by(words[k]); };
        if (std::any_of(std::begin(parts), std::end(parts), is_meant)) continue;
        std::fprintf(stderr, "there is no part %s\n", words[k]);
        return 2;
    }
    for (const Part& part : parts) {
        const auto means_it = [&](const char* word) { return part.is_meant_by(word); };
        if (count > 1 && std::none_of(words + 1, words + count, means_it)) continue;
        const auto begun = std::chrono::steady_clock::now();
        part.run();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
        std::printf("%s: %.1f s\n", part.name, took.count());
        std::fflush(stdout);
    }
    std::printf("the core holds, on %zu instruction sets\n", isotherm::all_kernels().size());
}
