#pragma once
// Rows that are brought to the cache before they are needed.

#include <hwy/cache_control.h>

#include <cstddef>
#include <cstdint>

namespace satin::cpu {

// Sizes in cache lines, so that whole cells and SIMD vectors never lie across two lines.

inline constexpr std::size_t cache_line_bytes = 64;

/// The next count that fills whole cache lines.
template <class T>
constexpr std::size_t whole_cache_lines(std::size_t count) {
  constexpr std::size_t values = cache_line_bytes / sizeof(T);
  return (count + values - 1) / values * values;
}

/// Fetches rows of strips or tiles: they are apart in memory, so that the processor does not see the next one
/// coming. g++ 12 takes a function that only fetches for one without effects and drops calls of it: it has to
/// be inlined, and one that does nothing but call it, too.
HWY_INLINE void fetch(const std::byte* row, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += cache_line_bytes) hwy::Prefetch(row + i);
}

/// Fetches `count` values.
template <class T>
HWY_INLINE void fetch_values(const T* values, std::int64_t count) {
  fetch(reinterpret_cast<const std::byte*>(values), static_cast<std::size_t>(count) * sizeof(T));
}

/// Brings the line of a place that is read before long to the second-level cache, and leaves the first to
/// what is worked on.
HWY_INLINE void fetch_to_second_level(const void* place) { __builtin_prefetch(place, 0, 2); }
/// Does so for a place that is written.
HWY_INLINE void fetch_to_second_level_for_writing(const void* place) { __builtin_prefetch(place, 1, 2); }

}  // namespace satin::cpu
