#pragma once
// Squared distances between pixels, and grey ramps over them: integers throughout.
//
// Rows and columns of a distance are cut at a reach, which bounds every sum: with a reach of 16384 a square
// of columns and one of rows make at most 2 * 16385^2 < 2^30.

#include <cstdint>

#include "core/maths/hd.h"

namespace satin {

inline constexpr std::int32_t largest_distance_reach = 16384;

/// 0 to 255 as a function of a squared distance that never falls.
struct DistanceRamp {
  static constexpr int steps = 255;
  std::uint32_t first[steps] = {};  ///< [k - 1]: the smallest squared distance with value k or more
};

/// How many of the ascending `first` are at most `squared`.
SATIN_HD std::uint32_t ramp_value(const std::uint32_t* first, std::uint32_t squared) {
  std::uint32_t value = 0;
  for (std::uint32_t half = 128; half != 0; half /= 2)
    if (first[value + half - 1] <= squared) value += half;
  return value;
}

}  // namespace satin
