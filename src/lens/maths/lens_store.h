#pragma once
// Linear integers of the lens -> the pixel that is stored.

#include <cstdint>

#include "lens/maths/lens_picture.h"
#include "pixels/maths/rows.h"
#include "pixels/maths/store.h"

namespace satin {

struct LensStoreRule : StoreRule {
  bool keeps_last = false;  ///< the last channel is data, whose bytes stay
};

/// (a * b / divisor) to nearest.
SATIN_HD std::uint64_t lens_ratio(std::uint64_t a, std::uint64_t b, std::uint64_t divisor) {
  return (a * b + divisor / 2) / divisor;
}

template <int Channels>
SATIN_HD void store_lens_values(const std::uint32_t* values, const std::uint8_t* original, std::uint32_t mask,
                                const LensStoreRule& rule, const LensUnit& /*unit*/, std::uint8_t* out) {
  constexpr int alpha = Channels - 1;
  const auto colour = [&](int c) -> std::uint64_t {
    std::uint64_t linear = values[c];
    if (rule.weighted) linear = values[alpha] == 0 ? 0 : lens_ratio(linear, 65535U, values[alpha]);
    if (linear > 65535U) linear = 65535U;
    return rule.transfer.decode == nullptr ? lens_ratio(linear, 1, 257U) : linear;
  };
  store_integers<Channels>(colour, lens_ratio(values[alpha], 1, 65535U), original, mask, rule, out);
}

template <int Channels>
SATIN_HD void store_lens_values(const std::uint32_t* values, const std::uint16_t* original,
                                std::uint32_t mask, const LensStoreRule& rule, const LensUnit& /*unit*/,
                                std::uint16_t* out) {
  constexpr int alpha = Channels - 1;
  constexpr std::uint64_t white = 16777215U;
  const auto colour = [&](int c) -> std::uint64_t {
    std::uint64_t linear = values[c];
    if (rule.weighted) linear = values[alpha] == 0 ? 0 : lens_ratio(linear, white, values[alpha]);
    if (linear > white) linear = white;
    return rule.transfer.decode == nullptr ? lens_ratio(linear, 65535U, white) : linear;
  };
  const std::uint64_t alpha_value = lens_ratio(values[alpha], 65535U, white);
  store_integers<Channels>(colour, alpha_value < 65535U ? alpha_value : 65535U, original, mask, rule, out);
}

template <int Channels>
SATIN_HD void store_lens_values(const std::uint32_t* values, const float* original, std::uint32_t mask,
                                const LensStoreRule& rule, const LensUnit& unit, float* out) {
  constexpr int alpha = Channels - 1;
  const double scale = power_of_two(-unit.colour_exponent);
  const double alpha_value =
      rule.weighted ? static_cast<double>(values[alpha]) * power_of_two(-unit.alpha_exponent) : 1.0;
  const auto colour = [&](int c) { return static_cast<double>(values[c]) * scale / alpha_value; };
  store_floats<Channels>(colour, alpha_value, original, mask, rule, out);
}

/// Stores one pixel of the result. One that is what the picture has there keeps its bytes.
template <int Channels, class T>
SATIN_HD void store_lens_pixel(const std::uint32_t* values, const LensPicture<T>& picture, const T* original,
                               std::uint32_t mask, const LensStoreRule& rule, const LensUnit& unit, T* out) {
  std::uint32_t own[4];
  read_lens_pixel<Channels>(original, picture, unit, own);
  bool same = true;
  for (int c = 0; c < Channels; ++c) same = same && own[c] == values[c];
  if (same || (rule.mask_maximum != 0 && mask == 0)) {
    for (int c = 0; c < Channels; ++c) out[c] = original[c];
    return;
  }
  store_lens_values<Channels>(values, original, mask, rule, unit, out);
  if (rule.keeps_last) out[Channels - 1] = original[Channels - 1];
}

template <int Channels, class T>
struct StoreLens {
  LensPicture<T> picture;
  LensStoreRule rule;
  const std::uint32_t* values;  ///< dense, interleaved
  std::int64_t width;
  const Measured* measured;
  MaskRows mask;
  Rows<T> output;

  struct Row {
    const StoreLens& step;
    LensUnit unit;
    int y;

    SATIN_HD void operator()(int x) const {
      const std::int64_t at = std::int64_t{x} * Channels;
      store_lens_pixel<Channels>(step.values + y * step.width * Channels + at, step.picture,
                                 step.picture.at(x, y), step.mask.weight(x, y), step.rule, unit,
                                 step.output.row(y) + at);
    }
  };
  SATIN_HD Row row(int y) const { return {*this, lens_unit(picture, measured), y}; }
};

}  // namespace satin
