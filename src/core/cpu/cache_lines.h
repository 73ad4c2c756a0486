#pragma once
// Sizes in cache lines, so that whole cells and SIMD vectors never lie across two lines.

#include <cstddef>

namespace satin::cpu {

inline constexpr std::size_t cache_line_bytes = 64;

/// The next count that fills whole cache lines.
template <class T>
constexpr std::size_t whole_cache_lines(std::size_t count) {
  constexpr std::size_t values = cache_line_bytes / sizeof(T);
  return (count + values - 1) / values * values;
}

}  // namespace satin::cpu
