#pragma once
// Mean and standard deviation over a window from exact integer sums, and the thresholds and normalised values
// that filters compute from them.
//
// local_statistics(), local_threshold() and normalised() define the results, in double precision. The second
// half computes the same results of integers in single precision, which is exact for nearly all pixels: each
// comes with a bound of its rounding error, and a result that is closer to a decision than that is computed
// again in double.

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/maths/hd.h"
#include "core/maths/wide.h"
#include "pixels/maths/plane.h"

namespace satin {

/// Sums over the pixels of one window. Values q are unsigned: stored integers, or floats in fixed point plus
/// an offset that makes them positive. With count < 2^31, q < 2^32 and squares < 2^64 nothing below
/// overflows.
struct WindowSums {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;
};

struct LocalStatistics {
  double mean = 0;
  double deviation = 0;
};

/// mean = S / n and deviation = sqrt(n Q - S^2) / n. Nothing cancels, because n Q - S^2 is an exact integer;
/// it does not depend on the offset.
SATIN_HD LocalStatistics local_statistics(const WindowSums& sums, const Quantised& quantised) {
  const auto count = static_cast<double>(sums.count);
  const auto centred = static_cast<std::int64_t>(sums.sum - sums.count * quantised.offset);
  const double numerator = to_double(multiply(sums.count, sums.squares) - multiply(sums.sum, sums.sum));
  return {static_cast<double>(centred) / count * quantised.scale,
          square_root(numerator) / count * quantised.scale};
}

/// Binarisation by a local threshold T; a pixel is white where its value is above T.
enum class ThresholdMethod : std::uint8_t {
  otsu,     ///< one T for all pixels, with the largest variance between the classes (Otsu 1979)
  bradley,  ///< m (1 - k) (Bradley and Roth 2007)
  niblack,  ///< m + k s (Niblack 1986)
  sauvola,  ///< m (1 + k (s / R - 1)) (Sauvola and Pietikainen 2000)
  wolf,     ///< m + k (s / s_max - 1) (m - I_min) (Wolf and Jolion 2004)
  nick,     ///< m + k sqrt(s^2 + m^2) (Khurshid et al. 2009)
  fixed     ///< one given T for all pixels
};

struct ThresholdRule {
  ThresholdMethod method = ThresholdMethod::sauvola;
  double k = 0;
  double range = 128;  ///< R
};

/// Extremes of the whole picture, for wolf.
struct PictureExtremes {
  double largest_deviation = 0;
  double smallest_value = 0;
};

/// Extremes before any pixel is counted.
inline constexpr PictureExtremes no_extremes{0, std::numeric_limits<double>::infinity()};

SATIN_HD double local_threshold(const ThresholdRule& rule, const PictureExtremes& extremes,
                                LocalStatistics at) {
  const double m = at.mean;
  const double s = at.deviation;
  switch (rule.method) {
    case ThresholdMethod::bradley:
      return m * (1.0 - rule.k);
    case ThresholdMethod::niblack:
      return m + rule.k * s;
    case ThresholdMethod::sauvola:
      return m * (1.0 + rule.k * (s / rule.range - 1.0));
    case ThresholdMethod::wolf: {
      const double ratio = extremes.largest_deviation > 0 ? s / extremes.largest_deviation : 1.0;
      return m + rule.k * (ratio - 1.0) * (m - extremes.smallest_value);
    }
    case ThresholdMethod::nick:
      return m + rule.k * square_root(s * s + m * m);
    case ThresholdMethod::otsu:
    case ThresholdMethod::fixed:
      break;
  }
  return 0;
}

/// Targets of normalised values, in units of the plane.
struct NormaliseRule {
  double mean = 0;
  double deviation = 0;
  double gain = 1;  ///< largest factor of the difference from the mean
};

/// Returns (v - m) deviation / max(s, deviation / gain) + mean.
SATIN_HD double normalised(const NormaliseRule& rule, double value, LocalStatistics at) {
  const double scale = at.deviation * rule.gain > rule.deviation ? rule.deviation / at.deviation : rule.gain;
  return (value - at.mean) * scale + rule.mean;
}

// Single precision.

/// Coefficients of a threshold T = constant + m (of_mean + of_product d) + of_spread d, a form that covers
/// all methods. Here m = S / n and d = sqrt(r) / n. r is n Q - S^2, which makes d the deviation, or n Q for
/// nick, because s^2 + m^2 = Q / n.
struct QuickThreshold {
  float constant = 0;
  float of_mean = 0;
  float of_product = 0;
  float of_spread = 0;
  bool without_mean = false;  ///< r = n Q
  /// A value within this distance of T is compared again in double. Bound of the error, with u = 2^-24: the
  /// relative error of r is up to 2 u, its root and 1 / n add 2 u each, and S, the coefficients and every
  /// product, sum and difference add u, which makes at most 18 u for a term of T. The bound is 32 u of the
  /// largest terms, or infinity where floats might overflow.
  float doubt = 0;
};

/// Returns the coefficients for values up to `largest`. n Q must be below 2^64 (see quick_suffices()).
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

/// Parameters of a number N that is stored as an integer: with r = n Q - S^2 and a value v of the plane,
///   deviation  N = sqrt(r) / n,
///   normalised N = largest ((n v - S) g + mean) with g = min(gain / n, target / sqrt(r)).
/// n v - S and r are exact integers, so nothing cancels after rounding. N is clamped to [0, largest], then
/// rounded.
struct QuickNumber {
  float target = 0;  ///< target deviation, as a share of `largest` like gain and mean
  float gain = 0;
  float mean = 0;
  /// N / largest where v is the mean of its window, as in every flat area. It is the stored value itself,
  /// because the target mean may lie midway between two integers.
  float flat = 0;
  /// Any other clamped N that is farther than this from the nearest integer is computed again in double: 1/2
  /// minus the bound of the error, negative where floats decide nothing. Relative errors, with u = 2^-24: r
  /// has up to 2 u, its root or inverse root 2.3 u more, 1 / n 2 u, and n v - S, the parameters and every
  /// product and sum u each. That makes 6.3 u for sqrt(r) / n and 7.3 u for (n v - S) g. The bound is 8 u of
  /// either, plus 2 u of mean and N. N matters within 1 of [0, largest], where |N - mean| <= 1 + max(|mean|,
  /// |largest - mean|); farther out no such error brings it back.
  float limit = 0;
};

/// Returns a bound of the error of deviations, which are at most half of the range.
SATIN_HD double quick_deviation_doubt(double largest) { return 0x1p-24 * 8 * (largest / 2); }

/// Returns a bound of the error of normalised values, or 1, which decides nothing, where floats might
/// overflow.
SATIN_HD double quick_normalised_doubt(const NormaliseRule& rule, double largest) {
  constexpr double most = 1e30;
  if (!(rule.gain < most && rule.deviation < most && fabs(rule.mean) < most)) return 1;
  const double below = fabs(rule.mean);
  const double above = fabs(largest - rule.mean);
  const double difference = 1 + (below > above ? below : above);
  return 0x1p-24 * (8 * difference + 2 * (below + largest + 1));
}

/// Returns the parameters for deviations of values up to `largest`. n Q must be below 2^64 (see
/// quick_suffices()).
SATIN_HD QuickNumber quick_deviation(double largest) {
  return {0, 0, 0, 0, static_cast<float>(0.5 - quick_deviation_doubt(largest))};
}

/// Returns the parameters for normalised values, under the same condition.
SATIN_HD QuickNumber quick_normalised(const NormaliseRule& rule, double largest) {
  const double doubt = quick_normalised_doubt(rule, largest);
  if (!(doubt < 0.5)) return {0, 0, 0, 0, -1};
  const auto flat = static_cast<double>(nearest_code(rule.mean, largest));
  return {static_cast<float>(rule.deviation / largest), static_cast<float>(rule.gain / largest),
          static_cast<float>(rule.mean / largest), static_cast<float>(flat / largest),
          static_cast<float>(0.5 - doubt)};
}

}  // namespace satin
