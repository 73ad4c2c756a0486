#pragma once
// The index of a value's bin, as satin/scan.h defines it. Host and device make the same comparisons and the
// same two roundings in double.

#include <cstdint>

#include "core/maths/hd.h"
#include "satin/scan.h"

namespace satin {

/// Bins as the arithmetic needs them. `inner` points to the count - 1 inner edges in the memory of the device
/// that computes; it is null for bins of equal width.
struct BinRule {
  double lower = 0;
  double scale = 0;  ///< even_bin_scale()
  std::uint32_t count = 1;
  const double* inner = nullptr;
};

/// Returns the number of bins per unit, rounded once for the width and once for the quotient.
SATIN_HD double even_bin_scale(double lower, double upper, std::int64_t count) {
  return static_cast<double>(count) / (upper - lower);
}

/// Returns a rule that points into `bins`.
inline BinRule bin_rule(const Bins& bins) {
  return {bins.lower(), even_bin_scale(bins.lower(), bins.upper(), bins.count()),
          static_cast<std::uint32_t>(bins.count()), bins.edges().empty() ? nullptr : bins.edges().data() + 1};
}

/// Returns floor((value - lower) * scale), clamped to 0 ... count - 1; the last bin for NaN.
SATIN_HD std::uint32_t even_bin(double value, double lower, double scale, std::uint32_t count) {
  const double position = (value - lower) * scale;
  const double inside = position > 0 ? position : (position <= 0 ? 0.0 : static_cast<double>(count));
  return inside < static_cast<double>(count) ? static_cast<std::uint32_t>(inside) : count - 1;
}

/// Returns the number of ascending edges that are at most `value`; all of them for NaN. A binary search
/// without branches, whose number of steps depends only on `inner_count`.
SATIN_HD std::uint32_t edge_bin(double value, const double* inner, std::uint32_t inner_count) {
  std::uint32_t below = 0;
  std::uint32_t length = inner_count;
  while (length > 0) {
    const std::uint32_t half = (length + 1) / 2;
    below += inner[below + half - 1] > value ? 0 : half;
    length -= half;
  }
  return below;
}

SATIN_HD std::uint32_t bin_of(double value, const BinRule& rule) {
  return rule.inner == nullptr ? even_bin(value, rule.lower, rule.scale, rule.count)
                               : edge_bin(value, rule.inner, rule.count - 1);
}

}  // namespace satin
