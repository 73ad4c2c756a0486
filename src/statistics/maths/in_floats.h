#pragma once
// Local thresholds, deviations and normalised values of integers in floats: for nearly all pixels those tell
// what is stored, and for the few that are too near to another result they say so.

#include <cmath>
#include <cstdint>

#include "core/maths/hd.h"
#include "pixels/maths/plane.h"
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

/// With r = n Q - S^2, of a value v of the plane,
///   deviation  N = sqrt(r) / n,
///   normalised N = largest ((n v - S) g + mean) with g = min(gain / n, target / sqrt(r)).
/// n v - S and r are exact integers, so that nothing cancels after they were rounded: every error is a part
/// of N - mean, of mean or of N. N is clamped to [0, largest] before it is rounded.
struct QuickNumber {
  float target = 0;  ///< the deviation that windows are brought to, as the others in parts of `largest`
  float gain = 0;
  float mean = 0;
  /// N / largest where v is the mean of its window, as in every flat area: the stored value itself, as the
  /// mean that is wanted may well lie in the middle of two.
  float flat = 0;
  /// Any other clamped N that is farther than this from the nearest integer is to be taken in double: 1 / 2
  /// less the doubt, negative where floats decide nothing. In parts of themselves, with u = 2^-24, r may be
  /// wrong by 2 u, its root or the inverse of that by 2.3 u more, 1 / n by 2 u, and n v - S, the parameters,
  /// every product and sum by u: sqrt(r) / n by 6.3 u and (n v - S) g by 7.3 u. The doubt takes 8 u of
  /// either, and 2 u of mean and of N for their own. N matters within 1 of [0, largest], where N - mean is no
  /// more than 1 + max(|mean|, |largest - mean|); farther out no such error brings it back.
  float limit = 0;
};

/// What floats may be wrong by in the numbers that decide.
SATIN_HD double quick_deviation_doubt(double largest) {
  return 0x1p-24 * 8 * (largest / 2);  // a deviation is at most half of the range
}

/// That of normalised values; 1, which decides nothing, for parameters with which floats might overflow.
SATIN_HD double quick_normalised_doubt(const NormaliseRule& rule, double largest) {
  constexpr double most = 1e30;
  if (!(rule.gain < most && rule.deviation < most && fabs(rule.mean) < most)) return 1;
  const double below = fabs(rule.mean);
  const double above = fabs(largest - rule.mean);
  const double difference = 1 + (below > above ? below : above);
  return 0x1p-24 * (8 * difference + 2 * (below + largest + 1));
}

/// Deviations of values up to `largest`. n Q has to be below 2^64 (quick_suffices).
SATIN_HD QuickNumber quick_deviation(double largest) {
  return {0, 0, 0, 0, static_cast<float>(0.5 - quick_deviation_doubt(largest))};
}

/// Normalised values likewise.
SATIN_HD QuickNumber quick_normalised(const NormaliseRule& rule, double largest) {
  const double doubt = quick_normalised_doubt(rule, largest);
  if (!(doubt < 0.5)) return {0, 0, 0, 0, -1};
  const auto flat = static_cast<double>(nearest_code(rule.mean, largest));
  return {static_cast<float>(rule.deviation / largest), static_cast<float>(rule.gain / largest),
          static_cast<float>(rule.mean / largest), static_cast<float>(flat / largest),
          static_cast<float>(0.5 - doubt)};
}

}  // namespace satin
