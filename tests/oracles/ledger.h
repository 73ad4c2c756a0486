#pragma once
// An allocator of host memory that counts for tests.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "satin/image.h"

namespace satin::test {

/// Host memory that counts allocations and checks that each is freed once. Outlives all of them.
struct Ledger {
  std::mutex lock;
  std::map<const void*, std::size_t> taken;
  std::size_t calls = 0;         ///< successful allocations
  std::size_t bytes = 0;         ///< bytes in use
  std::size_t most = 0;          ///< largest number of bytes in use at once
  std::size_t offset = 0;        ///< distance of addresses from a multiple of 64
  std::size_t limit = SIZE_MAX;  ///< largest number of bytes in use

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
