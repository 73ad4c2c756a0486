#pragma once
// Properties of one connected component as exact integers, so that the order of additions does not matter.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "core/maths/hd.h"
#include "core/maths/wide.h"
#include "scan/maths/sort_key.h"

namespace satin {

/// Position and size. Pictures have fewer than 2^32 pixels, so the sums of coordinates stay below 2^64.
struct RegionShape {
  std::uint32_t first = 0;  ///< index y * width + x of its first pixel in raster order
  std::uint32_t area = 0;
  std::uint32_t left = 0;
  std::uint32_t right = 0;  ///< last column
  std::uint32_t top = 0;
  std::uint32_t bottom = 0;  ///< last row
  std::uint64_t sum_x = 0;
  std::uint64_t sum_y = 0;
};

SATIN_HD bool touches_border(const RegionShape& region, std::int64_t width, std::int64_t height) {
  return region.left == 0 || region.top == 0 || region.right + std::int64_t{1} == width ||
         region.bottom + std::int64_t{1} == height;
}

/// Sums over one channel of a picture under one region. Values q are the stored integers, or floats in fixed
/// point of at most `bits` bits. Squares are kept as two numbers, q^2 = high 2^bits + low. With n pixels both
/// sums stay below 2^64 as long as n 2^bits <= 2^64, which fixed_bits_for() keeps.
struct RegionSums {
  std::uint64_t sum = 0;  ///< two's complement for floats
  std::uint64_t squares_low = 0;
  std::uint64_t squares_high = 0;
  std::uint32_t smallest = 0xFFFFFFFFU;  ///< as sort_key(), where -0 is 0
  std::uint32_t largest = 0;
};

SATIN_HD double value_of_float_key(std::uint32_t key) {
  const std::uint32_t bits = (key & 0x80000000U) != 0 ? key & 0x7FFFFFFFU : ~key;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

/// Returns the sums over one pixel. A value that is not finite counts as 0 here: its picture is refused when
/// the sums are read.
template <class T>
SATIN_HD RegionSums sums_of(T value, int exponent, int bits) {
  RegionSums sums;
  sums.smallest = sums.largest = sort_key(value);
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

SATIN_HD void add(RegionSums& into, const RegionSums& other) {
  into.sum += other.sum;
  into.squares_low += other.squares_low;
  into.squares_high += other.squares_high;
  if (other.smallest < into.smallest) into.smallest = other.smallest;
  if (other.largest > into.largest) into.largest = other.largest;
}

}  // namespace satin
