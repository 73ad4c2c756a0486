#pragma once

#include <cstdint>
#include <type_traits>

#include "core/maths/hd.h"
#include "pixels/maths/pixel.h"

namespace satin {

/// The value between two others: 0 at `low` and below, white (floats: 1) at `high` and above, integers to
/// nearest, ties up. Between equal ones it stays.
template <class T>
SATIN_HD T stretched(T value, T low, T high) {
  if (!(low < high)) return value;
  if (!(low < value)) return T{0};
  if constexpr (std::is_same_v<T, float>) {
    if (!(value < high)) return 1;
    return static_cast<float>((static_cast<double>(value) - static_cast<double>(low)) /
                              (static_cast<double>(high) - static_cast<double>(low)));
  } else {
    constexpr std::uint32_t white = static_cast<T>(~T{0});
    if (!(value < high)) return static_cast<T>(white);
    const auto range = static_cast<std::uint64_t>(high - low);
    return static_cast<T>((2 * static_cast<std::uint64_t>(value - low) * white + range) / (2 * range));
  }
}

/// `weight` parts of `maximum` of the result, the rest of the picture's own value.
template <class T>
SATIN_HD T blended(T own, T result, std::uint32_t weight, std::uint32_t maximum) {
  if (weight == 0) return own;
  if (weight == maximum) return result;
  if constexpr (std::is_same_v<T, float>) {
    const double sum = static_cast<double>(own) * static_cast<double>(maximum - weight) +
                       static_cast<double>(result) * static_cast<double>(weight);
    return static_cast<float>(sum / static_cast<double>(maximum));
  } else {
    return static_cast<T>(blend(own, result, weight, maximum));
  }
}

}  // namespace satin
