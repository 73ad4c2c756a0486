#include "lens/splat.h"

#include <algorithm>
#include <bit>
#include <string>

#include "satin/error.h"

namespace satin {
namespace {

constexpr int most_weight_bits = 30;
constexpr std::uint64_t least_weight = 1000;

int pile_bits(std::uint32_t largest_radius) {
  return static_cast<int>(std::bit_width(2 * pile_up(largest_radius) - 1));
}

/// Of the box around the largest kernel.
std::uint64_t largest_area(std::uint32_t largest_radius) {
  const std::uint64_t radius = largest_radius / 256 + 2;
  return 4 * radius * radius;
}

}  // namespace

std::uint64_t pile_up(std::uint32_t largest_radius) {
  return 4 + 2 * static_cast<std::uint64_t>(std::bit_width(largest_radius / 256));
}

int splat_weight_bits(std::uint32_t largest_radius, int colour_bits) {
  const int bits = std::min(most_weight_bits, 63 - colour_bits - pile_bits(largest_radius));
  if (bits < 0 || (std::uint64_t{1} << bits) < least_weight * largest_area(largest_radius))
    throw Error(ErrorKind::usage, "A blur of radius " + std::to_string(largest_radius / 256) +
                                      " is too large for exact sums of colours of " +
                                      std::to_string(colour_bits) + " bits: reduce the largest radius.");
  return bits;
}

int splat_colour_bits(std::uint32_t largest_radius) {
  const std::uint64_t least = least_weight * largest_area(largest_radius);
  return 63 - pile_bits(largest_radius) - static_cast<int>(std::bit_width(least - 1));
}

}  // namespace satin
