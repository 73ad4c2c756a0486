#pragma once
// A predicate as an interval of keys that order as the values do, so that one test serves every type of one
// size, every comparison, and a bin, whose values lie next to each other in that order.

#include <cstdint>

#include "scan/maths/sort_key.h"

namespace satin::kernels {

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

/// The values with first <= key <= first + span, counted modulo 2^bits, so that what lies outside of an
/// interval is one too. Keys of integers are their bits: a sign moves `first` alone. Nothing if `empty`.
struct Interval {
  std::uint64_t first = 0;
  std::uint64_t span = 0;
  bool empty = false;
};

/// Whether a value with these bits is in an interval that is not empty.
template <class Word, bool Floats>
struct InInterval {
  Word first;
  Word span;

  explicit InInterval(const Interval& interval)
      : first(static_cast<Word>(interval.first)), span(static_cast<Word>(interval.span)) {}

  SATIN_HD bool operator()(Word bits) const {
    if constexpr (Floats) bits = float_key(bits);
    return static_cast<Word>(bits - first) <= span;
  }
};

}  // namespace satin::kernels
