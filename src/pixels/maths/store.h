#pragma once
// Turns a result into the stored pixel: blending under a mask, alpha, and encoding. Host and device.

#include <cstdint>

#include "core/maths/hd.h"
#include "pixels/maths/pixel.h"

namespace satin {

struct StoreRule {
  bool weighted = false;           ///< the last channel is alpha; colours were averaged times alpha
  std::uint32_t mask_maximum = 0;  ///< 0: no mask
  TransferView transfer;           ///< tables of the stored type
};

/// Stores the result of a pixel of integers. `colour(c)` is the working value of channel c without alpha,
/// above the largest one only by rounding; `alpha_value` is the resulting alpha of a weighted picture.
/// `original` is the pixel's own stored value, which is blended in by the weight `mask` and kept where the
/// result is fully transparent.
template <int Channels, class T, class Colour>
SATIN_HD void store_integers(const Colour& colour, std::uint64_t alpha_value, const T* original,
                             std::uint32_t mask, const StoreRule& rule, T* out) {
  const std::uint64_t whole = rule.mask_maximum == 0 ? 1 : rule.mask_maximum;
  const std::uint64_t weight = rule.mask_maximum == 0 ? 1 : mask;
  if (!rule.weighted) {
    for (int c = 0; c < Channels; ++c) {
      std::uint64_t value = colour(c);
      if (weight != whole) value = blend(decode(original[c], rule.transfer), value, weight, whole);
      out[c] = encode(static_cast<std::uint32_t>(value), rule.transfer, T{});
    }
    return;
  }
  constexpr int alpha = Channels - 1;
  const std::uint64_t white = decode(static_cast<T>(~T{0}), rule.transfer);
  const std::uint64_t own_alpha = static_cast<std::uint64_t>(original[alpha]) * (whole - weight);
  const std::uint64_t blended_alpha = own_alpha + alpha_value * weight;
  const auto result_alpha =
      static_cast<T>(rule.mask_maximum == 0 ? alpha_value : (blended_alpha + whole / 2) / whole);
  for (int c = 0; c < alpha; ++c) {
    if (result_alpha == 0) {
      out[c] = original[c];
      continue;
    }
    std::uint64_t value = colour(c);
    if (value > white) value = white;  // alpha was rounded before
    if (weight != whole) {
      const std::uint64_t own = decode(original[c], rule.transfer) * own_alpha;
      value = (own + value * alpha_value * weight + blended_alpha / 2) / blended_alpha;
    }
    out[c] = encode(static_cast<std::uint32_t>(value), rule.transfer, T{});
  }
  out[alpha] = result_alpha;
}

/// Stores the result of a pixel of floats: double arithmetic in a fixed order, rounded once to float. The
/// original's values stay where the result has no alpha.
template <int Channels, class Colour>
SATIN_HD void store_floats(const Colour& colour, double alpha_value, const float* original,
                           std::uint32_t mask, const StoreRule& rule, float* out) {
  const double whole = rule.mask_maximum == 0 ? 1.0 : static_cast<double>(rule.mask_maximum);
  const double weight = rule.mask_maximum == 0 ? 1.0 : static_cast<double>(mask);
  const double rest = whole - weight;
  if (!rule.weighted) {
    for (int c = 0; c < Channels; ++c) {
      double value = colour(c);
      if (rest > 0) value = (static_cast<double>(original[c]) * rest + value * weight) / whole;
      out[c] = static_cast<float>(value);
    }
    return;
  }
  constexpr int alpha = Channels - 1;
  const double own_alpha = static_cast<double>(original[alpha]);
  const double blended_alpha = rest > 0 ? own_alpha * rest + alpha_value * weight : alpha_value;
  const bool visible = alpha_value > 0 && blended_alpha > 0;
  for (int c = 0; c < alpha; ++c) {
    if (!visible) {
      out[c] = original[c];
      continue;
    }
    double value = colour(c);
    if (rest > 0) {
      const double own = static_cast<double>(original[c]) * own_alpha * rest;
      value = (own + value * alpha_value * weight) / blended_alpha;
    }
    out[c] = static_cast<float>(value);
  }
  out[alpha] =
      visible ? static_cast<float>(rest > 0 ? blended_alpha / whole : blended_alpha) : original[alpha];
}

}  // namespace satin
