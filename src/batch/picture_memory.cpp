#include "batch/picture_memory.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "satin/error.h"

namespace satin::batch {
namespace {

/// Rounds up to eighths of the next lower power of two, and to whole pages.
std::size_t rounded(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  const std::size_t step = std::max(std::bit_floor(bytes) / 8, page);
  return (std::max<std::size_t>(bytes, 1) + step - 1) / step * step;
}

class PicturePool {
 public:
  PicturePool(Allocator source, std::uint64_t first, std::uint64_t most)
      : source_(std::move(source)), first_(first), most_(most) {}
  ~PicturePool() {
    while (drop_one()) {
    }
  }
  PicturePool(const PicturePool&) = delete;
  PicturePool& operator=(const PicturePool&) = delete;

  /// Returns memory from the pool or the system, or null.
  void* take(std::size_t bytes) {
    void* memory = take_block(rounded(bytes));
    return memory != nullptr ? memory : take_ordinary(bytes);
  }

  void put(void* memory, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    if (ordinary_.erase(memory) == 0) sizes_.find(rounded(bytes))->second.idle.push_back(memory);
  }

 private:
  /// Blocks of one size. `idle` has capacity for all of them, so that put() cannot fail.
  struct Blocks {
    std::vector<void*> idle;
    std::size_t count = 0;
  };

  /// Returns null beyond the bound, or if the source has no memory.
  void* take_block(std::size_t size) {
    {
      const std::lock_guard lock(mutex_);
      handed_out_ += size;
      Blocks& blocks = sizes_[size];
      if (!blocks.idle.empty()) {
        void* memory = blocks.idle.back();
        blocks.idle.pop_back();
        return memory;
      }
      if (!make_room(size)) return nullptr;
      blocks.idle.reserve(blocks.count + 1);
      ++blocks.count;
      held_ += size;
    }
    void* memory = source_.allocate(size);  // may be slow
    if (memory == nullptr) forget(size);
    return memory;
  }

  /// Lowers the bound, so that a source without memory is not asked again for every picture.
  void forget(std::size_t size) noexcept {
    const std::lock_guard lock(mutex_);
    --sizes_.find(size)->second.count;
    held_ -= size;
    most_ = std::min<std::uint64_t>(most_, held_ + size - 1);
  }

  void* take_ordinary(std::size_t bytes) {
    try {
      Buffer buffer = allocate_host(bytes);
      void* memory = buffer.get();
      const std::lock_guard lock(mutex_);
      ordinary_.emplace(memory, std::move(buffer));
      return memory;
    } catch (const Error&) {
      return nullptr;
    }
  }

  bool make_room(std::size_t size) {
    const std::uint64_t most = std::min(most_, first_ + handed_out_ / 8);
    if (size > most) return false;
    while (held_ > most - size)
      if (!drop_one()) return false;
    return true;
  }

  /// Returns the largest idle block to the source, or false if there is none.
  bool drop_one() {
    const auto largest = std::find_if(sizes_.rbegin(), sizes_.rend(),
                                      [](const auto& entry) { return !entry.second.idle.empty(); });
    if (largest == sizes_.rend()) return false;
    auto& [size, blocks] = *largest;
    source_.free(blocks.idle.back(), size);
    blocks.idle.pop_back();
    --blocks.count;
    held_ -= size;
    return true;
  }

  Allocator source_;
  std::mutex mutex_;
  std::uint64_t first_;
  std::uint64_t most_;
  std::uint64_t handed_out_ = 0;  ///< bytes handed out, from the system too
  std::uint64_t held_ = 0;        ///< bytes of blocks from the source, in use or idle
  std::map<std::size_t, Blocks> sizes_;
  std::unordered_map<void*, Buffer> ordinary_;  ///< memory from the system in use
};

}  // namespace

std::uint64_t PictureMemory::estimate(std::uint64_t file_size) const noexcept {
  constexpr std::uint64_t usual_compression = 16;
  return std::max(largest_.load(), usual_compression * file_size);
}

bool PictureMemory::has_room(std::uint64_t bytes) const noexcept {
  const std::uint64_t taken = taken_;
  return taken == 0 || (taken <= limit_ && bytes <= limit_ - taken);
}

void PictureMemory::correct(std::uint64_t& share, std::uint64_t bytes) noexcept {
  std::uint64_t largest = largest_;
  while (largest < bytes && !largest_.compare_exchange_weak(largest, bytes)) {
  }
  taken_ += bytes - share;  // modulo 2^64
  share = bytes;
}

std::uint64_t usual_picture_memory() {
  constexpr std::uint64_t unknown = std::uint64_t{1} << 30;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return unknown;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 4;
}

Allocator pooled(const Allocator& source, std::uint64_t first, std::uint64_t most) {
  const auto pool = std::make_shared<PicturePool>(source, first, most);
  return {[pool](std::size_t bytes) { return pool->take(bytes); },
          [pool](void* memory, std::size_t bytes) { pool->put(memory, bytes); }};
}

}  // namespace satin::batch
