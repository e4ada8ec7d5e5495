// Names → numbers 0, 1, 2 …, in the order in which they first appear.
#pragma once

#include <cstdint>

#include "buffer.hpp"

namespace isotherm {

// Text as Arrow keeps it: item i is the bytes from start[i] to start[i + 1].
template <class Offset>
struct Texts {
    std::int64_t count;
    const Offset* start;  // count + 1
    const char* bytes;
};

// A hash of a text. Nobody can prepare texts that all collide if they do not know the key.
std::uint32_t hash_text(std::uint64_t key, const char* text, std::int64_t length);

class Names {
public:
    Names();

    // The number of each text; new ones get the next numbers. Many are looked up at once, on
    // several threads; those not found are then added one after the other, so that numbers do not
    // depend on the threads. Throws std::length_error beyond 2³¹ − 2 names.
    template <class Offset>
    void encode(const Texts<Offset>& texts, std::int32_t* numbers, int threads);

    std::int64_t count() const { return start_.count - 1; }
    const std::int64_t* start() const { return start_.items.get(); }  // count() + 1
    const char* bytes() const { return bytes_.items.get(); }
    std::int64_t n_bytes() const { return bytes_.count; }

    // Gives the names away, without a copy, and starts anew. There is room for more behind them.
    struct Taken {
        Buffer<std::int64_t> start;
        Buffer<char> bytes;
        std::int64_t count, n_bytes;
    };
    Taken take();
    // Memory held, in bytes.
    std::int64_t size() const;

private:
    struct Slot {
        std::uint32_t hash;
        std::int32_t name;    // its number and one more; 0: free
        std::uint64_t bytes;  // where they are, and in the last bits how many, as far as these go
    };

    // Items that become more and more, in huge pages: they are looked at in no order at all.
    template <class T>
    struct Growing {
        Buffer<T> items;
        std::int64_t count = 0, room = 0;
        void add(const T* more, std::int64_t n);
    };

    std::uint32_t hash_of(const char* text, std::int64_t length) const {
        return hash_text(key_, text, length);
    }
    std::int64_t place_of(std::uint32_t hash) const;
    bool is(const Slot& slot, const char* text, std::int64_t length) const;
    std::int32_t find(std::uint32_t hash, const char* text, std::int64_t length) const;
    std::int32_t find_or_add(std::uint32_t hash, const char* text, std::int64_t length);
    template <class Offset>
    bool find_some(const Texts<Offset>& texts, std::int64_t first, std::int64_t last,
                   std::int32_t* numbers) const;
    void grow();

    std::uint64_t key_;  // of the hash: nobody can prepare names that all collide
    Buffer<Slot> slots_;
    std::int64_t n_slots_;
    Growing<std::int64_t> start_;
    Growing<char> bytes_;
};

}  // namespace isotherm
