#pragma once
// Rec. 709 luminance of three values as stored (ITU-R BT.709-6, item 3.2).

#include <cstdint>
#include <type_traits>

#include "core/maths/hd.h"

namespace satin {

/// Integers are rounded to nearest, ties up; below 2^16 their sum stays below 2^30.
template <class T>
SATIN_HD T luminance709(T r, T g, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(0.2126 * r + 0.7152 * g + 0.0722 * b);
  } else {
    const std::uint32_t sum = 2126U * r + 7152U * g + 722U * b;
    return static_cast<T>((sum + 5000) / 10000);
  }
}

}  // namespace satin
