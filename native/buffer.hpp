// Memory for long vectors: aligned to cache lines and, where the system has them, in huge pages,
// without which gathering rows at random from gigabytes spends its time on page tables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace isotherm {

enum class Contents { zeros, any };

template <class T>
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(std::int64_t count, Contents contents = Contents::zeros) {
        if (count == 0) return;
        bytes_ = rounded(static_cast<std::size_t>(count) * sizeof(T));
#if defined(ISOTHERM_SANITIZED)
        // No byte more than asked for, from where sanitizers see who reads beyond it.
        bytes_ = static_cast<std::size_t>(count) * sizeof(T);
#elif defined(__linux__)
        // Pages come zeroed, and only when touched; but that takes longer than to use again what the
        // last solve had, where it is not much.
        is_mapped_ = bytes_ >= much;
        if (is_mapped_) {
            void* const got =
                mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (got == MAP_FAILED) throw std::bad_alloc();
            madvise(got, bytes_, MADV_HUGEPAGE);
            data_ = static_cast<T*>(got);
            return;
        }
#endif
        void* got = nullptr;
        if (posix_memalign(&got, std::max(line, alignof(T)), bytes_) != 0) throw std::bad_alloc();
        if (contents == Contents::zeros) std::memset(got, 0, bytes_);
        data_ = static_cast<T*>(got);
    }
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() {
#if defined(__linux__)
        if (is_mapped_) {
            munmap(data_, bytes_);
            return;
        }
#endif
        std::free(data_);
    }

    // Keeps the first `count`; the memory of the others goes back to the system, if it takes it.
    void shrink(std::int64_t count) {
        const std::size_t kept = rounded(static_cast<std::size_t>(count) * sizeof(T));
        if (!is_mapped_ || kept >= bytes_ || kept == 0) return;
#if defined(__linux__)
        munmap(reinterpret_cast<char*>(data_) + kept, bytes_ - kept);
        bytes_ = kept;
#endif
    }

    T* get() const { return data_; }
    T& operator[](std::int64_t i) const { return data_[i]; }

private:
    static constexpr std::size_t line = 64, page = 4096, huge = std::size_t{1} << 21;
    static constexpr std::size_t much = std::size_t{7} << 20;
    static std::size_t rounded(std::size_t bytes) {
        const std::size_t unit = bytes >= much ? huge : page;
        return (bytes + unit - 1) / unit * unit;
    }
    void swap(Buffer& other) {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        std::swap(is_mapped_, other.is_mapped_);
    }

    T* data_ = nullptr;
    std::size_t bytes_ = 0;
    bool is_mapped_ = false;
};

}  // namespace isotherm
