#pragma once
// Rows asked for before they are read.

#include <hwy/cache_control.h>

#include <cstdint>

#include "core/cpu/cache_lines.h"

namespace satin::cpu {

/// Fetches `count` values into the first level cache.
template <class T>
HWY_INLINE void prefetch_row(const T* from, std::int64_t count) {
  constexpr auto line = static_cast<std::int64_t>(cache_line_bytes / sizeof(T));
  for (std::int64_t i = 0; i < count; i += line) hwy::Prefetch(from + i);
}

}  // namespace satin::cpu
