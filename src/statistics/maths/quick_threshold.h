#pragma once
// Whether an integer is above a local threshold, in floats: for nearly all pixels they tell, and for the few
// that lie too near to the threshold they say so.

#include <cmath>
#include <cstdint>

#include "core/maths/hd.h"
#include "statistics/maths/local_statistics.h"

namespace satin {

/// T = constant + m (of_mean + of_product d) + of_spread d, where m = S / n and d = sqrt(r) / n: all methods
/// have this form. r is n Q - S^2, so that d is the deviation, or for nick n Q, as s^2 + m^2 = Q / n.
struct QuickThreshold {
  float constant = 0;
  float of_mean = 0;
  float of_product = 0;
  float of_spread = 0;
  bool without_mean = false;  ///< r = n Q
  /// A value that is not farther than this from T is to be compared in double. In parts of themselves, with
  /// u = 2^-24, r may be wrong by 2 u, its root and 1 / n by 2 u more, S, the coefficients and every product,
  /// sum and difference by u: no term of T by more than 18 u. Taken are 32 u of the largest terms; infinity
  /// where floats might overflow.
  float doubt = 0;
};

/// `largest` is the largest value of the plane. n Q has to be below 2^64.
SATIN_HD QuickThreshold quick_threshold(const ThresholdRule& rule, const PictureExtremes& extremes,
                                        double largest) {
  double constant = 0;
  double of_mean = 1;
  double of_product = 0;
  double of_spread = 0;
  switch (rule.method) {
    case ThresholdMethod::bradley:
      of_mean = 1 - rule.k;
      break;
    case ThresholdMethod::niblack:
      of_spread = rule.k;
      break;
    case ThresholdMethod::sauvola:
      of_mean = 1 - rule.k;
      of_product = rule.k / rule.range;
      break;
    case ThresholdMethod::wolf:
      if (!(extremes.largest_deviation > 0)) break;
      constant = rule.k * extremes.smallest_value;
      of_mean = 1 - rule.k;
      of_product = rule.k / extremes.largest_deviation;
      of_spread = -of_product * extremes.smallest_value;
      break;
    case ThresholdMethod::nick:
      of_spread = rule.k;
      break;
    case ThresholdMethod::otsu:
    case ThresholdMethod::fixed:
      break;
  }
  const bool without_mean = rule.method == ThresholdMethod::nick;
  const double spread = without_mean ? largest : largest / 2;
  const double terms =
      fabs(constant) + largest * (1 + fabs(of_mean) + fabs(of_product) * spread) + fabs(of_spread) * spread;
  constexpr double most = 1e30;
  const double doubt = terms < most ? terms * 0x1p-19 : HUGE_VAL;
  return {static_cast<float>(constant),
          static_cast<float>(of_mean),
          static_cast<float>(of_product),
          static_cast<float>(of_spread),
          without_mean,
          static_cast<float>(doubt)};
}

/// Whether n Q of every window of `count` values up to `largest` is below 2^64.
SATIN_HD bool quick_suffices(std::uint64_t count, std::uint64_t largest) {
  return count < (std::uint64_t{1} << 32) / (largest + 1);
}

}  // namespace satin
