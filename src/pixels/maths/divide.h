#pragma once
// Exact division of sums beyond 64 bits, and the weighted sums that lead to them. Host and device.

#include <cstdint>

#include "core/maths/hd.h"

namespace satin {

/// A sum that may exceed 64 bits: its low 64 bits, and its value in double precision.
struct WideSum {
  std::uint64_t low = 0;
  double estimate = 0;
};

/// Returns sum / divisor to nearest, ties up, exactly. `divisor` is positive and below 2^61, the quotient
/// below 2^50 in magnitude: then the estimate errs by at most one, and the remainder fits 63 bits, so that
/// its low 64 bits suffice.
SATIN_HD std::int64_t divide_round(WideSum sum, std::uint64_t divisor) {
  auto quotient = static_cast<std::int64_t>(sum.estimate / static_cast<double>(divisor));
  auto remainder =
      static_cast<std::int64_t>(sum.low + divisor / 2 - static_cast<std::uint64_t>(quotient) * divisor);
  const auto signed_divisor = static_cast<std::int64_t>(divisor);
  while (remainder < 0) {
    --quotient;
    remainder += signed_divisor;
  }
  while (remainder >= signed_divisor) {
    ++quotient;
    remainder -= signed_divisor;
  }
  return quotient;
}

/// Adds weight * sum. For floats the order of the calls is part of the result: inner x inner, outer x inner,
/// inner x outer, outer x outer (x first), then pixels outside the picture.
SATIN_HD void add_weighted(WideSum& total, std::uint64_t weight, std::uint64_t sum, bool fixed_point) {
  total.low += weight * sum;
  const double value =
      fixed_point ? static_cast<double>(static_cast<std::int64_t>(sum)) : static_cast<double>(sum);
  total.estimate = total.estimate + static_cast<double>(weight) * value;
}

}  // namespace satin
