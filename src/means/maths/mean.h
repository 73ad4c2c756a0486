#pragma once
// From box sums to the pixel that is stored: the last step of every mean, the same lines on host and device.

#include <cstdint>
#include <type_traits>

#include "core/maths/fixed_point.h"
#include "core/maths/hd.h"
#include "pixels/maths/divide.h"
#include "pixels/maths/pixel.h"
#include "pixels/maths/store.h"

namespace satin {

/// Types of outputs that hold working values, or may.
template <class T>
inline constexpr bool may_be_working = sizeof(T) >= 2 && !std::is_same_v<T, float>;

/// What is the same for every pixel of one box mean.
struct MeanRule : StoreRule {
  bool fixed_point = false;            ///< sums are signed: the picture holds floats
  int read_fraction = 0;               ///< extra bits below the point of the values that were summed
  bool working = false;                ///< the output holds working values
  int write_shift = 0;                 ///< extra bits that a working output gets over its input
  std::uint64_t border_value[4] = {};  ///< working values outside the picture, for Border::constant
};

/// Working value of channel c outside the picture of a float job.
SATIN_HD std::uint64_t fixed_border_value(double value, int c, int channels, bool weighted, int fraction,
                                          FixedExponents exponents) {
  if (!weighted) return static_cast<std::uint64_t>(to_fixed(value, exponents.colour)) << fraction;
  if (c == channels - 1) return static_cast<std::uint64_t>(to_fixed(value, exponents.alpha)) << fraction;
  return static_cast<std::uint64_t>(to_fixed(value * value, exponents.colour)) << fraction;
}

/// Stores the mean of integer pixels. `count` is the weighted number of pixels; the rest as store_integers().
template <int Channels, class T>
SATIN_HD void store_integer_mean(const WideSum* sums, std::uint64_t count, const T* original,
                                 std::uint32_t mask, const MeanRule& rule, T* out) {
  constexpr int alpha = Channels - 1;
  const std::uint64_t divisor = count << rule.read_fraction;
  const auto colour = [&](int c) -> std::uint64_t {
    if (!rule.weighted) return static_cast<std::uint64_t>(divide_round(sums[c], divisor));
    return sums[alpha].low == 0 ? 0 : static_cast<std::uint64_t>(divide_round(sums[c], sums[alpha].low));
  };
  const auto mean_alpha =
      rule.weighted ? static_cast<std::uint64_t>(divide_round(sums[alpha], divisor)) : std::uint64_t{0};
  store_integers<Channels>(colour, mean_alpha, original, mask, rule, out);
}

/// Stores the mean of float pixels.
template <int Channels>
SATIN_HD void store_float_mean(const WideSum* sums, std::uint64_t count, const float* original,
                               std::uint32_t mask, const MeanRule& rule, FixedExponents exponents,
                               float* out) {
  constexpr int alpha = Channels - 1;
  const double divisor = static_cast<double>(count << rule.read_fraction);
  const double scale = power_of_two(rule.weighted ? exponents.alpha - exponents.colour : -exponents.colour);
  const auto colour = [&](int c) {
    return sums[c].estimate / (rule.weighted ? sums[alpha].estimate : divisor) * scale;
  };
  const double mean_alpha =
      rule.weighted ? sums[alpha].estimate / divisor * power_of_two(-exponents.alpha) : 0.0;
  store_floats<Channels>(colour, mean_alpha, original, mask, rule, out);
}

/// Stores means as working values of the next pass, with rule.write_shift more bits below the point.
template <int Channels, class Working>
SATIN_HD void store_working_mean(const WideSum* sums, std::uint64_t count, const MeanRule& rule,
                                 Working* out) {
  for (int c = 0; c < Channels; ++c) {
    const WideSum shifted{sums[c].low << rule.write_shift,
                          sums[c].estimate * static_cast<double>(std::uint64_t{1} << rule.write_shift)};
    out[c] = static_cast<Working>(divide_round(shifted, count));
  }
}

}  // namespace satin
