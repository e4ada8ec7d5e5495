// Compiled once per instruction set, with ISOTHERM_KERNELS naming the finder it defines. See leads.hpp.
#include "leads.hpp"

#include "instruction_set.hpp"
#include "lanes.hpp"

namespace isotherm {
namespace {

// Nodes side by side. One after the other, each class would be a branch that no processor could
// foresee.
constexpr int together = register_bytes / sizeof(double);
static_assert(Leads::most % together == 0, "leads are stored in whole registers");
using Numbers = Vec<double, together>;
using Integers = Vec<std::int64_t, together>;

template <class T>
void find(const Scoring& scoring, const T* rows, int count, Leads& leads) {
    for (int first = 0; first < count; first += together) {
        const T* row[together];
        for (int l = 0; l < together; ++l) {
            const int i = first + l < count ? first + l : count - 1;
            row[l] = rows + static_cast<std::int64_t>(i) * scoring.n_classes;
        }
        const Numbers none = {};
        Numbers top = none - __builtin_inf(), rival = top, largest = none;
        Integers best = {}, number = {};
        for (int k = 0; k < scoring.n_classes; ++k) {
            Numbers t;
            for (int l = 0; l < together; ++l) t[l] = row[l][k];
            const Numbers score = (t - scoring.shift[k]) * scoring.inverse_scale[k];
            const Numbers minus = -score, size = minus > score ? minus : score;
            const Numbers second = score < top ? score : top;
            largest = size > largest ? size : largest;
            rival = second > rival ? second : rival;
            best = score > top ? number : best;
            top = score > top ? score : top;
            number += 1;
        }
        store<std::int64_t, together>(leads.best + first, best);
        store<double, together>(leads.top + first, top);
        store<double, together>(leads.rival + first, rival);
        store<double, together>(leads.largest + first, largest);
    }
}

constexpr LeadFinder finder = {find<float>, find<double>};

}  // namespace

const LeadFinder& ISOTHERM_NAMED(leads_)() { return finder; }

}  // namespace isotherm
