#include "names.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "threads.hpp"

namespace isotherm {
namespace {

constexpr std::int64_t most_names = (std::int64_t{1} << 31) - 2;
constexpr std::int64_t texts_per_chunk = 1 << 14;
constexpr int together = 32;  // texts whose memory is waited for at the same time
constexpr std::int64_t texts_between_polls = 1 << 20;
constexpr int length_bits = 20;
constexpr std::uint64_t longest = (1 << length_bits) - 1;  // length that fits a slot

// Both halves of a product of 128 bits, folded.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

template <class T>
std::uint64_t load(const char* text) {
    T found;
    std::memcpy(&found, text, sizeof found);
    return found;
}

// The last bytes, eight at most; with the length, they tell what follows after the others.
std::uint64_t last_bytes(const char* text, std::int64_t length) {
    if (length >= 8) return load<std::uint64_t>(text + length - 8);
    if (length >= 4) {
        return load<std::uint32_t>(text) << 32 | load<std::uint32_t>(text + length - 4);
    }
    if (length == 0) return 0;
    const auto at = [&](std::int64_t k) { return load<std::uint8_t>(text + k); };
    return at(0) << 16 | at(length / 2) << 8 | at(length - 1);
}

}  // namespace

template <class T>
void Names::Growing<T>::add(const T* more, std::int64_t n) {
    if (count + n > room) {
        room = std::max({2 * room, count + n, std::int64_t{4096}});
        Buffer<T> larger(room);
        std::copy(items.get(), items.get() + count, larger.get());
        items = std::move(larger);
    }
    std::copy(more, more + n, items.get() + count);
    count += n;
}

Names::Names() : slots_(1 << 12), n_slots_(1 << 12) {
    std::random_device device;
    key_ = (std::uint64_t{device()} << 32 | device()) | 1;
    const std::int64_t zero = 0;
    start_.add(&zero, 1);
}

Names::Taken Names::take() {
    Names fresh;
    std::swap(slots_, fresh.slots_);
    std::swap(n_slots_, fresh.n_slots_);
    std::swap(start_, fresh.start_);
    std::swap(bytes_, fresh.bytes_);
    return {std::move(fresh.start_.items), std::move(fresh.bytes_.items), fresh.start_.count - 1,
            fresh.bytes_.count};
}

std::int64_t Names::size() const {
    return n_slots_ * static_cast<std::int64_t>(sizeof(Slot)) + 8 * start_.count + bytes_.count;
}

std::uint32_t hash_text(std::uint64_t key, const char* text, std::int64_t length) {
    std::uint64_t hash = key ^ static_cast<std::uint64_t>(length);
    for (std::int64_t at = 0; at + 8 < length; at += 8) {
        hash = fold(hash ^ load<std::uint64_t>(text + at), 0x9e3779b97f4a7c15u ^ key);
    }
    hash = fold(hash ^ last_bytes(text, length), 0xbf58476d1ce4e5b9u ^ key);
    return static_cast<std::uint32_t>(fold(hash, 0x94d049bb133111ebu) >> 16);
}

// A share of the table, by the share of the hash in its range.
std::int64_t Names::place_of(std::uint32_t hash) const {
    return static_cast<std::int64_t>(hash * static_cast<std::uint64_t>(n_slots_) >> 32);
}

bool Names::is(const Slot& slot, const char* text, std::int64_t length) const {
    if ((slot.bytes & longest) != std::min<std::uint64_t>(length, longest)) return false;
    const char* const own = bytes_.items.get() + (slot.bytes >> length_bits);
    if (static_cast<std::uint64_t>(length) >= longest) {
        const std::int64_t at = start_.items[slot.name - 1];
        return start_.items[slot.name] - at == length &&
               std::memcmp(own, text, static_cast<std::size_t>(length)) == 0;
    }
    for (std::int64_t at = 0; at + 8 < length; at += 8) {
        if (load<std::uint64_t>(own + at) != load<std::uint64_t>(text + at)) return false;
    }
    return last_bytes(own, length) == last_bytes(text, length);
}

std::int32_t Names::find(std::uint32_t hash, const char* text, std::int64_t length) const {
    for (std::int64_t at = place_of(hash);; at = at + 1 == n_slots_ ? 0 : at + 1) {
        const Slot& slot = slots_[at];
        if (slot.name == 0) return -1;
        if (slot.hash == hash && is(slot, text, length)) return slot.name - 1;
    }
}

std::int32_t Names::find_or_add(std::uint32_t hash, const char* text, std::int64_t length) {
    const std::int32_t found = find(hash, text, length);
    if (found >= 0) return found;
    if (count() == most_names) throw std::length_error("too many different names");
    if (2 * (count() + 1) > n_slots_) grow();
    std::int64_t at = place_of(hash);
    while (slots_[at].name != 0) at = at + 1 == n_slots_ ? 0 : at + 1;
    const auto size = std::min<std::uint64_t>(length, longest);
    slots_[at] = {hash, static_cast<std::int32_t>(count() + 1),
                  static_cast<std::uint64_t>(bytes_.count) << length_bits | size};
    bytes_.add(text, length);
    start_.add(&bytes_.count, 1);
    return slots_[at].name - 1;
}

void Names::grow() {
    Buffer<Slot> old(2 * n_slots_);
    std::swap(old, slots_);
    n_slots_ *= 2;
    for (std::int64_t k = 0; k < n_slots_ / 2; ++k) {
        if (old[k].name == 0) continue;
        std::int64_t at = place_of(old[k].hash);
        while (slots_[at].name != 0) at = at + 1 == n_slots_ ? 0 : at + 1;
        slots_[at] = old[k];
    }
}

// Numbers of the texts that are known, −1 for the others; whether all are known.
template <class Offset>
bool Names::find_some(const Texts<Offset>& texts, std::int64_t first, std::int64_t last,
                      std::int32_t* numbers) const {
    bool all = true;
    std::uint32_t hash[together];
    for (std::int64_t i = first; i < last; i += together) {
        const int some = static_cast<int>(std::min<std::int64_t>(together, last - i));
        for (int k = 0; k < some; ++k) {
            const Offset at = texts.start[i + k];
            hash[k] = hash_of(texts.bytes + at, texts.start[i + k + 1] - at);
            __builtin_prefetch(&slots_[place_of(hash[k])]);
        }
        for (int k = 0; k < some; ++k) {  // likely those looked for
            const Slot& slot = slots_[place_of(hash[k])];
            __builtin_prefetch(bytes_.items.get() + (slot.bytes >> length_bits));
        }
        for (int k = 0; k < some; ++k) {
            const Offset at = texts.start[i + k];
            numbers[i + k] = find(hash[k], texts.bytes + at, texts.start[i + k + 1] - at);
            all &= numbers[i + k] >= 0;
        }
    }
    return all;
}

template <class Offset>
void Names::encode(const Texts<Offset>& texts, std::int32_t* numbers, int threads) {
    std::atomic<bool> all{true};
    for_pieces(threads, texts.count, texts_per_chunk, [&](std::int64_t first, std::int64_t last) {
        if (!find_some(texts, first, last, numbers)) all = false;
    });
    if (all) return;
    std::vector<std::int64_t> unknown;
    for (std::int64_t i = 0; i < texts.count; ++i) {
        if (numbers[i] < 0) unknown.push_back(i);
    }
    const auto hash = [&](std::int64_t i) {
        return hash_of(texts.bytes + texts.start[i], texts.start[i + 1] - texts.start[i]);
    };
    const auto n = static_cast<std::int64_t>(unknown.size());
    for (std::int64_t k = 0; k < n; ++k) {
        if (k % texts_between_polls == 0) check_interrupt();
        if (k + together < n) {
            __builtin_prefetch(&slots_[place_of(hash(unknown[k + together]))], 1);
        }
        const std::int64_t i = unknown[k];
        numbers[i] = find_or_add(hash(i), texts.bytes + texts.start[i],
                                 texts.start[i + 1] - texts.start[i]);
    }
}

template void Names::encode<std::int32_t>(const Texts<std::int32_t>&, std::int32_t*, int);
template void Names::encode<std::int64_t>(const Texts<std::int64_t>&, std::int32_t*, int);

}  // namespace isotherm
