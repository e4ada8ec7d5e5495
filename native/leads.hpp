// Which class leads at each node, and by how much. Compiled once per instruction set, as the kernels are.
#pragma once

#include <cstdint>

namespace isotherm {

// score = (T − shift) · inverse_scale, for each class
struct Scoring {
    int n_classes;
    const double *shift, *inverse_scale;
};

// Of up to so many nodes: the class with the best score, that score, the best of the others, and the
// largest size of one.
struct Leads {
    static constexpr int most = 64;
    std::int64_t best[most];
    double top[most], rival[most], largest[most];
};

// Of `count` nodes, one row of temperatures each. What is found where there are none has no meaning.
struct LeadFinder {
    void (*find_f)(const Scoring&, const float* rows, int count, Leads&);
    void (*find_d)(const Scoring&, const double* rows, int count, Leads&);
};

const LeadFinder& leads_plain();
#if defined(ISOTHERM_X86)
const LeadFinder& leads_avx2();
const LeadFinder& leads_avx512();
#endif

}  // namespace isotherm
