#include "names.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <stdexcept>

#include "threads.hpp"

namespace isotherm {
namespace {

constexpr std::int64_t most_names = (std::int64_t{1} << 31) - 2;
constexpr std::int64_t texts_per_chunk = 1 << 14;
constexpr int together = 32;  // texts whose memory is waited for at the same time
constexpr std::int64_t texts_between_polls = 1 << 20;

// Both halves of a product of 128 bits, folded.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t first_bytes(const char* text, std::int64_t count) {
    std::uint64_t found = 0;
    std::memcpy(&found, text, static_cast<std::size_t>(count));
    return found;
}

}  // namespace

Names::Names() : slots_(1 << 12, Slot{0, -1}), start_(1, 0) {
    std::random_device device;
    key_ = (std::uint64_t{device()} << 32 | device()) | 1;
}

std::uint32_t Names::hash_of(const char* text, std::int64_t length) const {
    std::uint64_t hash = key_ ^ static_cast<std::uint64_t>(length);
    std::int64_t at = 0;
    for (; at + 8 <= length; at += 8) {
        hash = fold(hash ^ first_bytes(text + at, 8), 0x9e3779b97f4a7c15u ^ key_);
    }
    if (at < length) {
        hash = fold(hash ^ first_bytes(text + at, length - at), 0xbf58476d1ce4e5b9u ^ key_);
    }
    return static_cast<std::uint32_t>(fold(hash, 0x94d049bb133111ebu) >> 16);
}

// A share of the table, by the share of the hash in its range.
std::size_t Names::place_of(std::uint32_t hash) const {
    return static_cast<std::size_t>(std::uint64_t{hash} * slots_.size() >> 32);
}

bool Names::is(std::int32_t number, const char* text, std::int64_t length) const {
    const std::int64_t at = start_[number];
    return start_[number + 1] - at == length &&
           std::memcmp(bytes_.data() + at, text, static_cast<std::size_t>(length)) == 0;
}

std::int32_t Names::find(std::uint32_t hash, const char* text, std::int64_t length) const {
    for (std::size_t at = place_of(hash);; at = at + 1 == slots_.size() ? 0 : at + 1) {
        const Slot& slot = slots_[at];
        if (slot.number < 0) return -1;
        if (slot.hash == hash && is(slot.number, text, length)) return slot.number;
    }
}

std::int32_t Names::find_or_add(std::uint32_t hash, const char* text, std::int64_t length) {
    const std::int32_t found = find(hash, text, length);
    if (found >= 0) return found;
    if (count() == most_names) throw std::length_error("too many different names");
    if (2 * static_cast<std::size_t>(count() + 1) > slots_.size()) grow();
    std::size_t at = place_of(hash);
    while (slots_[at].number >= 0) at = at + 1 == slots_.size() ? 0 : at + 1;
    const auto number = static_cast<std::int32_t>(count());
    slots_[at] = {hash, number};
    bytes_.insert(bytes_.end(), text, text + length);
    start_.push_back(static_cast<std::int64_t>(bytes_.size()));
    return number;
}

void Names::grow() {
    std::vector<Slot> old(2 * slots_.size(), Slot{0, -1});
    old.swap(slots_);
    for (const Slot& slot : old) {
        if (slot.number < 0) continue;
        std::size_t at = place_of(slot.hash);
        while (slots_[at].number >= 0) at = at + 1 == slots_.size() ? 0 : at + 1;
        slots_[at] = slot;
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
        for (int k = 0; k < some; ++k) {
            const Slot& slot = slots_[place_of(hash[k])];
            numbers[i + k] = slot.number;  // likely
            if (slot.number >= 0) __builtin_prefetch(&start_[slot.number]);
        }
        for (int k = 0; k < some; ++k) {
            if (numbers[i + k] >= 0) __builtin_prefetch(bytes_.data() + start_[numbers[i + k]]);
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
    for (std::int64_t i = 0; i < texts.count && !all; ++i) {
        if (i % texts_between_polls == 0) check_interrupt();
        if (numbers[i] >= 0) continue;
        const char* const text = texts.bytes + texts.start[i];
        const std::int64_t length = texts.start[i + 1] - texts.start[i];
        numbers[i] = find_or_add(hash_of(text, length), text, length);
    }
}

template void Names::encode<std::int32_t>(const Texts<std::int32_t>&, std::int32_t*, int);
template void Names::encode<std::int64_t>(const Texts<std::int64_t>&, std::int32_t*, int);

}  // namespace isotherm
