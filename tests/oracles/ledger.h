#pragma once
// An allocator of host memory that tests look into.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "satin/image.h"

namespace satin::test {

/// Memory of the host that knows what was taken and gives back nothing twice. Outlives what it gave.
struct Ledger {
  std::mutex lock;
  std::map<const void*, std::size_t> taken;
  std::size_t calls = 0;         ///< that gave memory
  std::size_t bytes = 0;         ///< taken now
  std::size_t most = 0;          ///< bytes taken at one time
  std::size_t offset = 0;        ///< of what is given, from a multiple of 64
  std::size_t limit = SIZE_MAX;  ///< of bytes taken: beyond it there is none

  Allocator allocator() {
    return {[this](std::size_t size) -> void* {
              const std::lock_guard guard(lock);
              if (size > limit || bytes > limit - size) return nullptr;
              auto* memory = static_cast<std::byte*>(std::aligned_alloc(64, (size / 64 + 2) * 64)) + offset;
              taken[memory] = size;
              ++calls;
              bytes += size;
              most = std::max(most, bytes);
              return memory;
            },
            [this](void* memory, std::size_t size) {
              const std::lock_guard guard(lock);
              const auto found = taken.find(memory);
              ASSERT_NE(found, taken.end());
              EXPECT_EQ(found->second, size);
              taken.erase(found);
              bytes -= size;
              std::free(static_cast<std::byte*>(memory) - offset);
            }};
  }

  bool holds(const void* memory) {
    const std::lock_guard guard(lock);
    return taken.count(memory) != 0;
  }
};

}  // namespace satin::test
