#pragma once
// Rows that are brought to the cache before they are needed.

#include <hwy/cache_control.h>

#include <cstddef>

namespace satin::cpu {

/// Fetches rows of strips or tiles: they are apart in memory, so that the processor does not see the next one
/// coming. g++ 12 takes a function that only fetches for one without effects and drops calls of it: it has to
/// be inlined, and one that does nothing but call it, too.
HWY_INLINE void fetch(const std::byte* row, std::size_t bytes) {
  constexpr std::size_t cache_line = 64;
  for (std::size_t i = 0; i < bytes; i += cache_line) hwy::Prefetch(row + i);
}

}  // namespace satin::cpu
