#pragma once
// Floats in fixed point, with a power-of-two scale from the largest magnitude of the picture, so that sums
// are exact and independent of their order. Host and device.

#include <cstdint>
#include <cstring>

#include "core/maths/hd.h"

namespace satin {

SATIN_HD std::uint64_t bits_of(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

SATIN_HD double double_of(std::uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Returns 2^exponent for -1022 <= exponent <= 1023.
SATIN_HD double power_of_two(int exponent) {
  return double_of(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// The result of a reduction over a picture. Magnitudes are bits of doubles, which order as the numbers do.
struct Measured {
  std::uint64_t largest[2];   ///< largest magnitude of colours (times alpha if weighted) and of alpha
  std::uint64_t smallest[2];  ///< smallest magnitudes above 0; all ones if there are none
  std::uint32_t picture_not_finite;
  std::uint32_t map_out_of_range;  ///< NaN, or outside 0..1
  std::uint32_t guide_not_finite;
};

/// Returns the exponent s such that value * 2^s is at most 2^bits for magnitudes up to `largest`.
SATIN_HD int fixed_exponent(std::uint64_t largest_bits, int bits) {
  if (largest_bits == 0) return 0;
  const int exponent = static_cast<int>(largest_bits >> 52) - 1022;  // largest < 2^exponent
  return bits - exponent;
}

/// Returns round(value * 2^exponent), ties up.
SATIN_HD std::int64_t to_fixed(double value, int exponent) {
  const double scaled = value * power_of_two(exponent) + 0.5;
  const auto truncated = static_cast<std::int64_t>(scaled);
  return static_cast<double>(truncated) > scaled ? truncated - 1 : truncated;
}

struct FixedExponents {
  int colour = 0;
  int alpha = 0;
};

SATIN_HD FixedExponents fixed_exponents(const Measured& measured, int bits) {
  return {fixed_exponent(measured.largest[0], bits), fixed_exponent(measured.largest[1], bits)};
}

/// Returns the exponents for squares of values without alpha.
SATIN_HD FixedExponents squared_exponents(const Measured& measured, int bits) {
  const double largest = double_of(measured.largest[0]);
  return {fixed_exponent(bits_of(largest * largest), bits), 0};
}

}  // namespace satin
