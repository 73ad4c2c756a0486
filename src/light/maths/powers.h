#pragma once
// Powers and logarithms to the base 2 from sums, products and quotients of doubles alone, which are correctly
// rounded: host and device compute the same bits on every machine.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/maths/hd.h"

namespace satin {

/// Returns first + x * (second + x * (third + ...)), without a loop, so that compilers vectorize loops around
/// it.
template <class... Rest>
SATIN_HD double polynomial(double x, double first, Rest... rest) {
  if constexpr (sizeof...(rest) == 0)
    return first;
  else
    return first + x * polynomial(x, rest...);
}

/// Returns 2^exponent for magnitudes up to 1000, with a relative error below 2^-50: Taylor's series of exp(y)
/// for |y| <= ln(2) / 2, where y^14 / 14! < 2^-57.
SATIN_HD double power_of_2(double exponent) {
  constexpr double ln2 = 0.69314718055994530942;
  const int whole = static_cast<int>(exponent + 1024.5) - 1024;
  const double y = (exponent - static_cast<double>(whole)) * ln2;
  const double series =
      polynomial(y, 1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
                 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800);
  return series * power_of_two(whole);
}

/// Returns log2(value) of a normal positive number, with an error below 2^-48 of the larger of 1 and the
/// result: log(m) = 2 artanh(s), s = (m - 1) / (m + 1), for sqrt(1/2) < m <= sqrt(2), where s^19 / 19 <
/// 2^-52.
SATIN_HD double log_of_2(double value) {
  constexpr double two_over_ln2 = 2.88539008177792681472;
  // Mantissas above sqrt(2), whose last 52 bits are more than these, carry into the exponent.
  constexpr std::uint64_t one = std::uint64_t{1} << 52, root_of_2 = 0x6A09E667F3BCD;
  const std::uint64_t bits = bits_of(value);
  const int whole = static_cast<int>((bits + (one - 1 - root_of_2)) >> 52) - 1023;
  const double m = double_of(bits - (static_cast<std::uint64_t>(whole) << 52));
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  const double series =
      polynomial(square, 1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17);
  return static_cast<double>(whole) + two_over_ln2 * (s * series);
}

}  // namespace satin
