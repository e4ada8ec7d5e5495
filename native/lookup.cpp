#include "lookup.hpp"

#include <cstring>

#include "names.hpp"
#include "threads.hpp"

namespace isotherm {
namespace {

constexpr std::int64_t width = 8;  // of a number
constexpr std::int64_t names_between_polls = 1 << 20;

struct Text {
    const char* bytes;
    std::int64_t length;  // −1: there is none
};

Text text_at(const std::int64_t* start, const char* bytes, std::int64_t n_bytes, std::int64_t i) {
    const std::int64_t first = start ? start[i] : i * width;
    const std::int64_t last = start ? start[i + 1] : first + width;
    if (first < 0 || last < first || last > n_bytes) return {nullptr, -1};
    return {bytes + first, last - first};
}

bool same(const Text& a, const Text& b) {
    return a.length == b.length &&
           (a.length == 0 || std::memcmp(a.bytes, b.bytes, static_cast<std::size_t>(a.length)) == 0);
}

std::int64_t place_of(const Lookup& table, const Text& text) {
    const std::uint64_t hash = hash_text(table.key, text.bytes, text.length);
    return static_cast<std::int64_t>(hash * static_cast<std::uint64_t>(table.n_slots) >> 32);
}

// The slot of a text: its own, or a free one; −1 if there is neither.
std::int64_t slot_of(const Lookup& table, const Text& text) {
    std::int64_t at = place_of(table, text);
    for (std::int64_t k = 0; k < table.n_slots; ++k) {
        const std::int64_t name = std::int64_t{table.slots[at]} - 1;
        if (name == -1) return at;
        if (name >= 0 && name < table.count &&
            same(text_at(table.start, table.bytes, table.n_bytes, name), text)) {
            return at;
        }
        if (++at == table.n_slots) at = 0;
    }
    return -1;
}

}  // namespace

std::int64_t fill(const Lookup& table) {
    std::int64_t doubled = 0;
    for (std::int64_t i = 0; i < table.count; ++i) {
        if (i % names_between_polls == 0) check_interrupt();
        constexpr std::int64_t ahead = 16;
        if (i + ahead < table.count) {
            const Text next = text_at(table.start, table.bytes, table.n_bytes, i + ahead);
            if (next.length >= 0) __builtin_prefetch(table.slots + place_of(table, next), 1);
        }
        const Text text = text_at(table.start, table.bytes, table.n_bytes, i);
        const std::int64_t at = text.length < 0 ? -1 : slot_of(table, text);
        if (at < 0 || table.slots[at] != 0) {
            ++doubled;
        } else {
            table.slots[at] = static_cast<std::int32_t>(i + 1);
        }
    }
    return doubled;
}

void find(const Lookup& table, std::int64_t n_wanted, const std::int64_t* wanted_start,
          const char* wanted, std::int64_t* places) {
    const std::int64_t n_bytes = wanted_start ? wanted_start[n_wanted] : n_wanted * width;
    for (std::int64_t i = 0; i < n_wanted; ++i) {
        if (i % names_between_polls == 0) check_interrupt();
        const Text text = text_at(wanted_start, wanted, n_bytes, i);
        const std::int64_t at = text.length < 0 || table.n_slots == 0 ? -1 : slot_of(table, text);
        const std::int64_t name = at < 0 ? -1 : std::int64_t{table.slots[at]} - 1;
        places[i] = name;
    }
}

}  // namespace isotherm
