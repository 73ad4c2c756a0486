#pragma once
// When what a picture differs by from its mean can be added in single precision.

#include <cmath>

namespace satin {

/// Whether single precision makes every step for bytes with means of 8 more bits exactly. Differences are
/// k / 2^8 with |k| <= 65280; with an amount of a / 2^s results are multiples of 1 / 2^(8 + s) of at most
/// 65280 (2^s + a) parts: fewer than 2^24 while 2^s + a <= 256. Thresholds are compared alike where they are
/// floats.
[[nodiscard]] inline bool exact_in_float(double amount, double threshold) {
  if (static_cast<double>(static_cast<float>(threshold)) != threshold) return false;
  for (int bits = 0; bits < 8; ++bits) {
    const double parts = 1 << bits;
    const double numerator = amount * parts;
    if (numerator == std::floor(numerator)) return parts + numerator <= 256;
  }
  return false;
}

}  // namespace satin
