#pragma once
// From box sums to the pixel that is stored: the last step of every mean, the same lines on host and device.

#include <cstdint>

#include "core/maths/divide.h"
#include "core/maths/fixed_point.h"
#include "core/maths/hd.h"
#include "core/maths/pixel.h"

namespace satin {

/// What is the same for every pixel of one box mean.
struct MeanRule {
  bool weighted = false;               ///< the last channel is alpha, and colours were summed times alpha
  bool fixed_point = false;            ///< sums are signed: the picture holds floats
  int read_fraction = 0;               ///< extra bits below the point of the values that were summed
  int write_shift = 0;                 ///< extra bits that a working output gets over its input
  std::uint32_t mask_maximum = 0;      ///< 0: no mask
  std::uint64_t border_value[4] = {};  ///< working values outside the picture, for Border::constant
  TransferView transfer;               ///< of the stored output type
};

/// Exponents of the fixed-point values of a float picture: colour, alpha.
struct FixedExponents {
  int colour = 0;
  int alpha = 0;
};

SATIN_HD FixedExponents fixed_exponents(const Measured& measured, int bits) {
  return {fixed_exponent(measured.largest[0], bits), fixed_exponent(measured.largest[1], bits)};
}

/// The exponents of squares of unweighted values.
SATIN_HD FixedExponents squared_exponents(const Measured& measured, int bits) {
  const double largest = double_of(measured.largest[0]);
  return {fixed_exponent(bits_of(largest * largest), bits), 0};
}

/// Adds weight * sum. The order of the calls is part of the definition for floats: inner x inner, outer x
/// inner, inner x outer, outer x outer (x first), then what lies outside the picture.
SATIN_HD void add_weighted(WideSum& total, std::uint64_t weight, std::uint64_t sum, bool fixed_point) {
  total.low += weight * sum;
  const double value =
      fixed_point ? static_cast<double>(static_cast<std::int64_t>(sum)) : static_cast<double>(sum);
  total.estimate = total.estimate + static_cast<double>(weight) * value;
}

/// Stores the mean of integer pixels. `count` is the weighted number of pixels, `original` the pixel's own
/// stored value (blended with, and kept where the result is fully transparent), `mask` its blend weight.
template <int Channels, class T>
SATIN_HD void store_integer_mean(const WideSum* sums, std::uint64_t count, const T* original,
                                 std::uint32_t mask, const MeanRule& rule, T* out) {
  const std::uint64_t whole = rule.mask_maximum == 0 ? 1 : rule.mask_maximum;
  const std::uint64_t weight = rule.mask_maximum == 0 ? 1 : mask;
  const std::uint64_t divisor = count << rule.read_fraction;
  if (!rule.weighted) {
    for (int c = 0; c < Channels; ++c) {
      auto value = static_cast<std::uint64_t>(divide_round(sums[c], divisor));
      if (weight != whole) value = blend(decode(original[c], rule.transfer), value, weight, whole);
      out[c] = encode(static_cast<std::uint32_t>(value), rule.transfer, T{});
    }
    return;
  }
  constexpr int alpha = Channels - 1;
  const std::uint64_t white = decode(static_cast<T>(~T{0}), rule.transfer);
  const std::uint64_t own_alpha = static_cast<std::uint64_t>(original[alpha]) * (whole - weight);
  const auto mean_alpha = static_cast<std::uint64_t>(divide_round(sums[alpha], divisor));
  const std::uint64_t blended_alpha = own_alpha + mean_alpha * weight;
  const auto result_alpha = static_cast<T>((blended_alpha + whole / 2) / whole);
  for (int c = 0; c < alpha; ++c) {
    if (result_alpha == 0) {
      out[c] = original[c];
      continue;
    }
    std::uint64_t value =
        sums[alpha].low == 0 ? 0 : static_cast<std::uint64_t>(divide_round(sums[c], sums[alpha].low));
    if (value > white) value = white;  // alpha was rounded between passes
    if (weight != whole) {
      const std::uint64_t own = decode(original[c], rule.transfer) * own_alpha;
      value = (own + value * mean_alpha * weight + blended_alpha / 2) / blended_alpha;
    }
    out[c] = encode(static_cast<std::uint32_t>(value), rule.transfer, T{});
  }
  out[alpha] = result_alpha;
}

/// Stores the mean of float pixels: ordered IEEE double arithmetic, one rounding to float at the end.
template <int Channels>
SATIN_HD void store_float_mean(const WideSum* sums, std::uint64_t count, const float* original,
                               std::uint32_t mask, const MeanRule& rule, FixedExponents exponents,
                               float* out) {
  const double divisor = static_cast<double>(count << rule.read_fraction);
  const double whole = rule.mask_maximum == 0 ? 1.0 : static_cast<double>(rule.mask_maximum);
  const double weight = rule.mask_maximum == 0 ? 1.0 : static_cast<double>(mask);
  const double rest = whole - weight;
  if (!rule.weighted) {
    const double scale = power_of_two(-exponents.colour);
    for (int c = 0; c < Channels; ++c) {
      double value = sums[c].estimate / divisor * scale;
      if (rest > 0) value = (static_cast<double>(original[c]) * rest + value * weight) / whole;
      out[c] = static_cast<float>(value);
    }
    return;
  }
  constexpr int alpha = Channels - 1;
  const double mean_alpha = sums[alpha].estimate / divisor * power_of_two(-exponents.alpha);
  const double own_alpha = static_cast<double>(original[alpha]);
  const double blended_alpha = rest > 0 ? own_alpha * rest + mean_alpha * weight : mean_alpha;
  const bool visible = sums[alpha].estimate > 0 && blended_alpha > 0;
  const double scale = power_of_two(exponents.alpha - exponents.colour);
  for (int c = 0; c < alpha; ++c) {
    if (!visible) {
      out[c] = original[c];
      continue;
    }
    double value = sums[c].estimate / sums[alpha].estimate * scale;
    if (rest > 0) {
      const double own = static_cast<double>(original[c]) * own_alpha * rest;
      value = (own + value * mean_alpha * weight) / blended_alpha;
    }
    out[c] = static_cast<float>(value);
  }
  out[alpha] =
      visible ? static_cast<float>(rest > 0 ? blended_alpha / whole : blended_alpha) : original[alpha];
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
