#pragma once
// Unsigned keys that order as a sort does: -0 equals +0, and all NaN are equal and last.

#include <cstdint>
#include <cstring>

#include "core/maths/hd.h"

namespace satin {

constexpr std::uint32_t quiet_nan_bits = 0x7FC00000U;

SATIN_HD std::uint32_t bits_of_float(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Returns the bits that a sort stores for a float: the float itself, or the quiet NaN for every NaN.
SATIN_HD std::uint32_t canonical_float_bits(std::uint32_t bits) {
  return (bits & 0x7FFFFFFFU) > 0x7F800000U ? quiet_nan_bits : bits;
}

/// Returns the key of canonical bits. -0 and +0 have one key, so the bits cannot be recovered from it.
SATIN_HD std::uint32_t sort_key_of_float_bits(std::uint32_t bits) {
  const std::uint32_t positive = bits == 0x80000000U ? 0U : bits;
  return (positive & 0x80000000U) != 0 ? ~positive : positive | 0x80000000U;
}

SATIN_HD std::uint32_t sort_key(float value) {
  return sort_key_of_float_bits(canonical_float_bits(bits_of_float(value)));
}
SATIN_HD std::uint32_t sort_key(std::int32_t value) {
  return static_cast<std::uint32_t>(value) ^ 0x80000000U;
}
SATIN_HD std::uint8_t sort_key(std::uint8_t value) { return value; }
SATIN_HD std::uint16_t sort_key(std::uint16_t value) { return value; }
SATIN_HD std::uint32_t sort_key(std::uint32_t value) { return value; }
SATIN_HD std::uint64_t sort_key(std::uint64_t value) { return value; }

}  // namespace satin
