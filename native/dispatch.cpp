// Which kernels this machine can run.
#include <cstdlib>
#include <string>

#include "kernels.hpp"

namespace isotherm {

namespace {

// The most that may be used: the checks run all tests as on an older processor.
const std::string& limit() {
    static const std::string name = [] {
        const char* const asked = std::getenv("_ISOTHERM_INSTRUCTION_SET");
        return std::string(asked ? asked : "avx512");
    }();
    return name;
}

}  // namespace

const Kernels* find_kernels(const char* name) {
    const std::string wanted(name);
    if (wanted == "plain") return &kernels_plain();
#if defined(ISOTHERM_X86)
    const bool avx2 = limit() != "plain" && __builtin_cpu_supports("avx2") &&
                      __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
    const bool avx512 = avx2 && limit() != "avx2" && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw");
    if (wanted == "avx2" && avx2) return &kernels_avx2();
    if (wanted == "avx512" && avx512) return &kernels_avx512();
#endif
    return nullptr;
}

const Kernels& best_kernels() {
    static const Kernels& best = [&]() -> const Kernels& {
        for (const char* name : {"avx512", "avx2"}) {
            if (const Kernels* const found = find_kernels(name)) return *found;
        }
        return kernels_plain();
    }();
    return best;
}

}  // namespace isotherm
