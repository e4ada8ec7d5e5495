// A table, in a file, of where names are: nothing of it is read but what a look-up needs.
//
// Names are texts as Arrow keeps them, or numbers of 8 bytes each. Slots hold the place of a name
// and one more, 0 if free; a name is in the first free slot from the one that its hash says. Nothing
// that the file holds is trusted: what leads outside is as if it were not there.
#pragma once

#include <cstdint>

namespace isotherm {

struct Lookup {
    std::int64_t count;         // of names
    const std::int64_t* start;  // of each text, count + 1; null: each name has 8 bytes
    const char* bytes;
    std::int64_t n_bytes;
    std::uint64_t key;  // of the hash
    std::int64_t n_slots;
    std::int32_t* slots;
};

// Fills a table of free slots, more than there are names. Returns how many names there are twice.
std::int64_t fill(const Lookup& table);

// The place of each text wanted, −1 if it is not there; of texts from wanted_start[i] on, or, if
// that is null, of 8 bytes each.
void find(const Lookup& table, std::int64_t n_wanted, const std::int64_t* wanted_start,
          const char* wanted, std::int64_t* places);

}  // namespace isotherm
