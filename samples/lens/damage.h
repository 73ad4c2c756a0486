#pragma once
// Disparity as matchers and files give it: with misplaced edges, soft edges and noise.

#include <cstdint>

#include "satin/image.h"

namespace lens {

enum class Damage {
  none,
  eroded,
  dilated,
  blurred_3,
  blurred_5,
  noisy,
  shifted,
  half_size,
  eight_bits,
  holes,
  phone
};
inline constexpr Damage all_damages[] = {Damage::none,      Damage::eroded,    Damage::dilated,
                                         Damage::blurred_3, Damage::blurred_5, Damage::noisy,
                                         Damage::shifted,   Damage::half_size, Damage::eight_bits,
                                         Damage::holes,     Damage::phone};
[[nodiscard]] const char* name_of(Damage damage);

/// Kinds of damage: near areas one pixel larger or smaller; a mean of 3 x 3 or 5 x 5 pixels; a uniform error
/// of 0.02 of the range; a shift by one pixel to the left; half the size, each pixel the lower median of
/// four; u8; unknown (NaN) where a second eye on the right would not see the surface, up to 12 pixels left of
/// nearer things, and in one pixel of a hundred. `phone`: shifted by one pixel, soft over seven pixels with
/// an overshoot, half the size, noisy, u8.
[[nodiscard]] satin::Image damaged(const satin::Image& disparity, Damage damage, std::uint32_t seed);

/// Makes f32 disparity of the picture's size: bilinear between pixels; unknown pixels get the
/// next known value to the left, or else to the right.
[[nodiscard]] satin::Image plain(const satin::Image& disparity);

}  // namespace lens
