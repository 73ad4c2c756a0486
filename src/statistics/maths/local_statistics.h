#pragma once
// Mean and standard deviation over a window from exact integer sums, and what filters make of them.

#include <cstdint>
#include <limits>

#include "core/maths/hd.h"
#include "core/maths/wide.h"
#include "pixels/maths/plane.h"

namespace satin {

/// Sums over the pixels of one window. Values q are unsigned: the stored integers, or floats in fixed point,
/// raised by `offset` so that none is negative. With count < 2^31 and q < 2^32 nothing below overflows as
/// long as sum of q^2 < 2^64.
struct WindowSums {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;
};

struct LocalStatistics {
  double mean = 0;
  double deviation = 0;
};

/// mean = S / n; deviation = sqrt(n Q - S^2) / n without cancellation, as n Q - S^2 is an exact integer and
/// does not depend on the offset.
SATIN_HD LocalStatistics local_statistics(const WindowSums& sums, const Quantised& quantised) {
  const auto count = static_cast<double>(sums.count);
  const auto centred = static_cast<std::int64_t>(sums.sum - sums.count * quantised.offset);
  const double numerator = to_double(multiply(sums.count, sums.squares) - multiply(sums.sum, sums.sum));
  return {static_cast<double>(centred) / count * quantised.scale,
          square_root(numerator) / count * quantised.scale};
}

/// Binarisation by a local threshold T; a pixel is white where its value is above T.
enum class ThresholdMethod : std::uint8_t {
  otsu,     ///< one T for all: the largest variance between the classes (Otsu 1979)
  bradley,  ///< m (1 - k) (Bradley and Roth 2007)
  niblack,  ///< m + k s (Niblack 1986)
  sauvola,  ///< m (1 + k (s / R - 1)) (Sauvola and Pietikainen 2000)
  wolf,     ///< m + k (s / s_max - 1) (m - I_min) (Wolf and Jolion 2004)
  nick,     ///< m + k sqrt(s^2 + m^2) (Khurshid et al. 2009)
  fixed     ///< one T that is given
};

struct ThresholdRule {
  ThresholdMethod method = ThresholdMethod::sauvola;
  double k = 0;
  double range = 128;  ///< R
};

/// What wolf takes from the whole picture.
struct PictureExtremes {
  double largest_deviation = 0;
  double smallest_value = 0;
};

/// Those of no pixel.
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

/// Mean and deviation that windows are brought to, in the plane's values, and the most that differences grow.
struct NormaliseRule {
  double mean = 0;
  double deviation = 0;
  double gain = 1;
};

/// (v - m) deviation / max(s, deviation / gain) + mean.
SATIN_HD double normalised(const NormaliseRule& rule, double value, LocalStatistics at) {
  const double scale = at.deviation * rule.gain > rule.deviation ? rule.deviation / at.deviation : rule.gain;
  return (value - at.mean) * scale + rule.mean;
}

}  // namespace satin
