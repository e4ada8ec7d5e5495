// The arithmetic that all bounds on rounding presuppose: to the nearest, small numbers not taken for 0.
#pragma once

#include <cfenv>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "isotherm proves bounds on rounding, and so needs exact rules: compile without -ffast-math and \
-ffinite-math-only (Intel's icpx: with -fp-model=precise)"
#endif

namespace isotherm {

// Whatever other libraries have made of this thread's arithmetic, and leaves it as it was. Threads
// begin with that of the thread that starts them.
class StandardArithmetic {
public:
    StandardArithmetic() {
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~StandardArithmetic() { std::fesetenv(&before_); }
    StandardArithmetic(const StandardArithmetic&) = delete;
    StandardArithmetic& operator=(const StandardArithmetic&) = delete;

private:
    std::fenv_t before_;
};

}  // namespace isotherm
