#pragma once
// Cache lines: sizes that fill whole lines, and prefetches of rows that will be needed soon.

#include <hwy/cache_control.h>

#include <cstddef>
#include <cstdint>

namespace satin::cpu {

inline constexpr std::size_t cache_line_bytes = 64;

/// Returns the next count of values that fills whole cache lines, so that no vector straddles two lines.
template <class T>
constexpr std::size_t whole_cache_lines(std::size_t count) {
  constexpr std::size_t values = cache_line_bytes / sizeof(T);
  return (count + values - 1) / values * values;
}

/// Prefetches a row of a tile. The hardware prefetcher does not, since rows of a tile are apart in memory.
/// This and its callers that do nothing else must be inlined: g++ 12 drops calls of a function that only
/// prefetches.
HWY_INLINE void fetch(const std::byte* row, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += cache_line_bytes) hwy::Prefetch(row + i);
}

template <class T>
HWY_INLINE void fetch_values(const T* values, std::int64_t count) {
  fetch(reinterpret_cast<const std::byte*>(values), static_cast<std::size_t>(count) * sizeof(T));
}

/// Prefetches a line that is read later into the second-level cache, and leaves the first level to current
/// data.
HWY_INLINE void fetch_to_second_level(const void* address) { __builtin_prefetch(address, 0, 2); }
/// Does the same for a line that is written later.
HWY_INLINE void fetch_to_second_level_for_writing(const void* address) { __builtin_prefetch(address, 1, 2); }

}  // namespace satin::cpu
