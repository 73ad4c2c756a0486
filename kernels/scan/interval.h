#pragma once
// A predicate as an interval of keys that order as the values do, so that one test serves every type of one
// size, every comparison, and a bin, whose values lie next to each other in that order.

#include <cstdint>
#include <type_traits>

#include "core/maths/sort_key.h"

namespace satin::kernels {

/// How the bits of a value become its key.
enum class KeyOf : std::uint8_t { unsigned_bits, signed_bits, float_bits };

/// The key of -0 is that of +0; every NaN has the largest key of all.
SATIN_HD std::uint32_t float_key(std::uint32_t bits) {
  return sort_key_of_float_bits(canonical_float_bits(bits));
}
SATIN_HD std::uint64_t float_key(std::uint64_t bits) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if ((bits & ~sign) > 0x7FF0000000000000U) return ~std::uint64_t{0};
  const std::uint64_t positive = bits == sign ? 0 : bits;
  return (positive & sign) != 0 ? ~positive : positive | sign;
}

/// The key of a value of any size with these bits.
template <class Word>
SATIN_HD Word key_of(Word bits, KeyOf kind) {
  if constexpr (sizeof(Word) >= 4) {
    if (kind == KeyOf::float_bits) return float_key(bits);
    if (kind == KeyOf::signed_bits) return bits ^ (Word{1} << (sizeof(Word) * 8 - 1));
  }
  return bits;
}

/// The values with first <= key <= first + span; or, inverted, all others.
struct Interval {
  std::uint64_t first = 0;
  std::uint64_t span = 0;
  bool inverted = false;
  KeyOf kind = KeyOf::unsigned_bits;

  template <class Word>
  SATIN_HD bool operator()(Word bits) const {
    const auto distance = static_cast<Word>(key_of(bits, kind) - static_cast<Word>(first));
    return (distance <= static_cast<Word>(span)) != inverted;
  }
};

}  // namespace satin::kernels
