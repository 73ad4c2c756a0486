#pragma once
// Large blocks of host memory that were freed, for the next buffers of about their size. The system clears
// every new page, which takes longer than a simple filter.
//
// They do not raise the most memory that a process holds: before a new block is made, at least as many bytes
// of kept ones are freed, or all. The system may take their pages back at any time (MADV_FREE).

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

namespace satin {

class KeptBlocks {
 public:
  static constexpr std::size_t huge_page = std::size_t{1} << 21;
#ifdef __clang__
  static constexpr bool is_sanitized = __has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)
  static constexpr bool is_sanitized = true;
#else
  static constexpr bool is_sanitized = false;
#endif
  /// The address sanitizer finds uses of freed pictures only if none is kept.
  static constexpr std::size_t most_held = is_sanitized ? 0 : std::size_t{1} << 30;

  /// Returns the blocks of this process. They are never destroyed, as static objects may hold pictures.
  static KeptBlocks& of_process() {
    static KeptBlocks& blocks = *new KeptBlocks;  // NOLINT(cppcoreguidelines-owning-memory)
    return blocks;
  }

  /// Returns a kept block or a new one of at least `bytes`, and sets `bytes` to its size. Null if there is no
  /// memory.
  void* take(std::size_t& bytes) {
    const std::lock_guard lock(mutex_);
    const auto fits = [&](const Block& block) {
      return block.bytes >= bytes && block.bytes - bytes <= bytes / most_waste;
    };
    if (const auto found = std::ranges::find_if(blocks_, fits); found != blocks_.end()) {
      const Block block = *found;
      blocks_.erase(found);
      held_ -= block.bytes;
      bytes = block.bytes;
      return block.memory;
    }
    for (std::size_t freed = 0; freed < bytes && !blocks_.empty();) freed += drop_oldest();
    void* memory = ::operator new(bytes, alignment, std::nothrow);
#ifdef MADV_HUGEPAGE
    if (memory != nullptr) madvise(memory, bytes, MADV_HUGEPAGE);  // a hint; failure does not matter
#endif
    return memory;
  }

  void keep(void* memory, std::size_t bytes) noexcept {
    if (bytes > most_held) return ::operator delete(memory, alignment);
    const std::lock_guard lock(mutex_);
    while (held_ + bytes > most_held || blocks_.size() == blocks_.capacity()) drop_oldest();
#ifdef MADV_FREE
    madvise(memory, bytes / page * page, MADV_FREE);
#endif
    blocks_.push_back({memory, bytes});
    held_ += bytes;
  }

  [[nodiscard]] std::size_t held() {
    const std::lock_guard lock(mutex_);
    return held_;
  }

 private:
  struct Block {
    void* memory;
    std::size_t bytes;
  };

  static constexpr std::align_val_t alignment{huge_page};
  static constexpr std::size_t most_waste = 8;  ///< a block is larger than its buffer by this share at most
  static constexpr std::size_t most_blocks = 64;
  static constexpr std::size_t page = 4096;

  KeptBlocks() { blocks_.reserve(most_blocks); }

  std::size_t drop_oldest() noexcept {
    const Block block = blocks_.front();
    blocks_.erase(blocks_.begin());
    held_ -= block.bytes;
    ::operator delete(block.memory, alignment);
    return block.bytes;
  }

  std::mutex mutex_;
  std::vector<Block> blocks_;  ///< the oldest first
  std::size_t held_ = 0;
};

}  // namespace satin
