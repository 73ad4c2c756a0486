#pragma once
// Values of pixels under a region as exact sums, and what follows from the sums.

#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "core/maths/wide.h"
#include "masks/maths/region.h"
#include "scan/maths/sort_key.h"

namespace satin {

/// Keys of finite values: of integers themselves, of floats sort_key(), where -0 is 0.
template <class T>
SATIN_HD std::uint32_t value_key(T value) {
  return sort_key(value);
}

SATIN_HD double value_of_float_key(std::uint32_t key) {
  const std::uint32_t bits = (key & 0x80000000U) != 0 ? key & 0x7FFFFFFFU : ~key;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

/// The sums over one pixel. A value that is not finite counts as 0 here: its picture is refused when the sums
/// are read.
template <class T>
SATIN_HD RegionSums sums_of(T value, int exponent, int bits) {
  RegionSums sums;
  sums.smallest = sums.largest = value_key(value);
  if constexpr (std::is_same_v<T, float>) {
    const bool finite = value - value == 0;
    const std::int64_t fixed = finite ? to_fixed(static_cast<double>(value), exponent) : 0;
    const auto magnitude = static_cast<std::uint64_t>(fixed < 0 ? -fixed : fixed);
    const Wide square = multiply(magnitude, magnitude);
    sums.sum = static_cast<std::uint64_t>(fixed);
    sums.squares_low = square.low & ((std::uint64_t{1} << bits) - 1);
    sums.squares_high = (square.low >> bits) | (square.high << (64 - bits));
  } else {
    sums.sum = value;
    sums.squares_low = std::uint64_t{value} * value;
  }
  return sums;
}

SATIN_HD void add(RegionSums& into, const RegionSums& part) {
  into.sum += part.sum;
  into.squares_low += part.squares_low;
  into.squares_high += part.squares_high;
  if (part.smallest < into.smallest) into.smallest = part.smallest;
  if (part.largest > into.largest) into.largest = part.largest;
}

template <class T>
SATIN_HD void include(RegionSums& into, T value, int exponent, int bits) {
  add(into, sums_of(value, exponent, bits));
}

}  // namespace satin
