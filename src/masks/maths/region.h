#pragma once
// What is known about one connected component: exact integers, so that the order of additions does not
// matter.

#include <cstdint>

#include "core/maths/hd.h"

namespace satin {

/// Place and size. Pictures have fewer than 2^32 pixels, so the sums of coordinates stay below 2^64.
struct RegionShape {
  std::uint32_t first = 0;  ///< index y * width + x of its first pixel in raster order
  std::uint32_t area = 0;
  std::uint32_t left = 0;
  std::uint32_t right = 0;  ///< of its last column
  std::uint32_t top = 0;
  std::uint32_t bottom = 0;  ///< of its last row
  std::uint64_t sum_x = 0;
  std::uint64_t sum_y = 0;

  friend bool operator==(const RegionShape&, const RegionShape&) = default;
};

/// The sum of first, first + 1 ... first + count - 1.
SATIN_HD std::uint64_t sum_of_range(std::uint64_t first, std::uint64_t count) {
  return count * first + count * (count - 1) / 2;
}

SATIN_HD bool touches_border(const RegionShape& region, std::int64_t width, std::int64_t height) {
  return region.left == 0 || region.top == 0 || region.right + std::int64_t{1} == width ||
         region.bottom + std::int64_t{1} == height;
}

/// One channel of a picture under one region. Values q are the stored integers, or floats in fixed point of
/// at most `bits` bits; squares are kept in two parts, q^2 = high 2^bits + low. With n pixels both parts stay
/// below 2^64 as long as n 2^bits <= 2^64, which fixed_bits_for() keeps.
struct RegionSums {
  std::uint64_t sum = 0;  ///< of floats: two's complement
  std::uint64_t squares_low = 0;
  std::uint64_t squares_high = 0;
  std::uint32_t smallest = 0xFFFFFFFFU;  ///< as sort_key()
  std::uint32_t largest = 0;

  friend bool operator==(const RegionSums&, const RegionSums&) = default;
};

}  // namespace satin
