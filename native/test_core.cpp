// The core against slow obvious loops, on random graphs. It is there to be run under sanitizers:
//   cmake -S native -B build/core -DISOTHERM_TEST_CORE=ON -DISOTHERM_SANITIZE=address,undefined
//   cmake --build build/core && build/core/test_core
// By its arguments, only some of it.
#include "test_core.hpp"

namespace {

struct Part {
    const char* name;
    void (*run)();
};
constexpr Part parts[] = {
    {"graphs", isotherm::test_graphs},     {"kernels", isotherm::test_kernels},
    {"solves", isotherm::test_solves},     {"proofs", isotherm::test_proofs},
    {"verdicts", isotherm::test_verdicts}, {"threads", isotherm::test_threads},
    {"solves_on_threads", isotherm::test_solves_on_threads},
    {"steering", isotherm::test_steering},
    {"interrupts_on_threads", isotherm::test_interrupts_on_threads},
    {"rounding", isotherm::test_rounding},
    {"certificates", isotherm::test_certificates},
    {"shares", isotherm::test_shares},
};

}  // namespace

int main(int count, char** names) {
    for (int k = 1; k < count; ++k) {
        const auto is_named = [&](const Part& part) { return !std::strcmp(part.name, names[k]); };
        if (std::any_of(std::begin(parts), std::end(parts), is_named)) continue;
        std::fprintf(stderr, "there is no part %s\n", names[k]);
        return 2;
    }
    for (const Part& part : parts) {
        const auto is_it = [&](const char* name) { return !std::strcmp(part.name, name); };
        if (count > 1 && std::none_of(names + 1, names + count, is_it)) continue;
        const auto begun = std::chrono::steady_clock::now();
        part.run();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
        std::printf("%s: %.1f s\n", part.name, took.count());
        std::fflush(stdout);
    }
    std::printf("the core holds, on %zu instruction sets\n", isotherm::all_kernels().size());
}
