#pragma once
// Bytes with straight alpha as premultiplied values of 16 bits, and back: the same lines on host and device.

#include <cstdint>

#include "core/maths/hd.h"
#include "core/maths/store.h"

namespace satin {

/// What is the same for every pixel. Colours have `fraction` bits below the point: 8 of codes, none of linear
/// light, which has 16 bits already. Alpha always has 8.
struct PremultiplyRule : StoreRule {
  int fraction = 0;
};

/// The value that stands for white under full alpha, so that colour * alpha_white / alpha is the colour.
SATIN_HD std::uint32_t alpha_white(int fraction) { return 0xFF00U >> fraction; }

/// To nearest; the product is below 2^24.
SATIN_HD std::uint16_t premultiplied(std::uint32_t colour, std::uint32_t alpha, int fraction) {
  return static_cast<std::uint16_t>((((colour * alpha) << fraction) + 0x7F) / 0xFF);
}

/// To nearest, ties up; may exceed white, as both were rounded. Nothing where there is no alpha.
SATIN_HD std::uint32_t unpremultiplied(std::uint32_t colour, std::uint32_t alpha, int fraction) {
  return alpha == 0 ? 0 : (colour * alpha_white(fraction) + alpha / 2) / alpha;
}

template <int Channels>
SATIN_HD void premultiply(const std::uint8_t* stored, const PremultiplyRule& rule, std::uint16_t* values) {
  const std::uint32_t alpha = stored[Channels - 1];
  for (int c = 0; c + 1 < Channels; ++c)
    values[c] = premultiplied(decode(stored[c], rule.transfer), alpha, rule.fraction);
  values[Channels - 1] = static_cast<std::uint16_t>(alpha << 8);
}

template <int Channels>
SATIN_HD void store_premultiplied(const std::uint16_t* values, const std::uint8_t* original,
                                  std::uint32_t mask, const PremultiplyRule& rule, std::uint8_t* out) {
  if (rule.mask_maximum != 0 && mask == 0) {
    for (int c = 0; c < Channels; ++c) out[c] = original[c];
    return;
  }
  const std::uint32_t alpha = values[Channels - 1];
  const auto colour = [&](int c) -> std::uint64_t {
    return unpremultiplied(values[c], alpha, rule.fraction);
  };
  store_integers<Channels>(colour, (alpha + 0x80) >> 8, original, mask, rule, out);
}

}  // namespace satin
