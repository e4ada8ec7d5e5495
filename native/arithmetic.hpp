// The arithmetic that all bounds on rounding presuppose: to the nearest, small numbers not taken for 0.
#pragma once

#include <cfenv>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "isotherm proves bounds on rounding, and so needs exact rules: compile without -ffast-math and \
-ffinite-math-only (Intel's icpx: with -fp-model=precise)"
#endif

namespace isotherm {

// Whether nothing has to be set; looking takes a hundredth of the time of setting.
inline bool is_standard_arithmetic() {
#if defined(__SSE2__)
    constexpr unsigned usual = 0x1f80, exceptions_seen = 0x3f;
    return (_mm_getcsr() & ~exceptions_seen) == usual;
#else
    return false;
#endif
}

// Whatever other libraries have made of this thread's arithmetic, and leaves it as it was. Threads
// begin with that of the thread that starts them.
class StandardArithmetic {
public:
    StandardArithmetic() : is_set_(!is_standard_arithmetic()) {
        if (!is_set_) return;
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~StandardArithmetic() {
        if (is_set_) std::fesetenv(&before_);
    }
    StandardArithmetic(const StandardArithmetic&) = delete;
    StandardArithmetic& operator=(const StandardArithmetic&) = delete;

private:
    const bool is_set_;
    std::fenv_t before_;
};

}  // namespace isotherm
